//! What a listener sends.

use zerolap_resp::Template;

/// A line for `--listen`.
pub(crate) fn listen_line(text: &str) -> Result<String, String> {
    let template = Template::compile(text.as_bytes(), b"").map_err(|error| error.to_string())?;
    if template.data_count() > 0 { Err("a listener has no __data__".to_owned()) } else { Ok(text.to_owned()) }
}
