//! How long values live.

use zerolap_resp::Template;

use super::data::DataDraft;
use super::{UsageError, Warnings};
use zerolap_load_requests::Command;
use zerolap_load_requests::{Expiry, Source};

/// The first value in it is the time.
const WITH_TIME: &[u8] = b"SETEX __key__ __data__ __data__";

/// Makes the SET that is there without a command one of values that expire, if that is asked for.
pub(super) fn apply(
    data: &DataDraft,
    commands: &mut [Command],
    key_prefix: &str,
    warnings: &mut Warnings,
) -> Result<(), UsageError> {
    let Some((first, second)) = data.expiry else { return Ok(()) };
    let Some(set) = commands.first_mut().filter(|command| command.is_default) else { return Ok(()) };
    if data.offset.is_some_and(|offset| offset > 0) {
        return Err(UsageError::Conflict("--data-offset and --expiry-range exclude each other: SETRANGE has no time"));
    }
    warnings.without_effect(set.ratio == 0, "--expiry-range", "no SET is sent");
    if first > second {
        warnings
            .push(format!("--expiry-range {first}-{second} is read as {second}-{first}, as memtier_benchmark does"));
    }
    let seconds = (first.min(second), first.max(second));
    let template = Template::compile(WITH_TIME, key_prefix.as_bytes());
    let template = template.map_err(|source| UsageError::Command { line: set.line.clone(), source })?;
    // Its name stays SET, as in memtier's results.
    set.line = format!("SETEX __key__ {}-{} __data__", seconds.0, seconds.1);
    set.source = Source::Expiring(Box::new(Expiry { seconds, template }));
    Ok(())
}
