//! File names as the graphs give them: relative to the source tree.

/// The directory that a binary was built from.
#[derive(Debug, Clone)]
pub(crate) struct SourceRoot {
    /// Cleaned, ends with `/`; none when no directory was given.
    prefix: Option<String>,
}

/// A file name in the graphs' form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileName {
    pub(crate) name: String,
    /// Whether the file lies in the source tree.
    pub(crate) inside: bool,
}

impl SourceRoot {
    pub(crate) fn new(directory: &str) -> Self {
        let prefix = (!directory.is_empty()).then(|| {
            let mut prefix = clean(directory);
            if !prefix.ends_with('/') {
                prefix.push('/');
            }
            prefix
        });
        Self { prefix }
    }

    /// The name without the source tree's directory and a `src/` that follows it; a file elsewhere keeps its path.
    pub(crate) fn file_name(&self, path: &str) -> FileName {
        let cleaned = clean(path);
        match self.prefix.as_deref().and_then(|prefix| cleaned.strip_prefix(prefix)) {
            Some(relative) => {
                FileName { name: relative.strip_prefix("src/").unwrap_or(relative).to_owned(), inside: true }
            }
            None => FileName { name: cleaned, inside: false },
        }
    }
}

/// The path without `.` parts; in an absolute path `..` parts are resolved too (by name, as debug information means
/// them: links are not followed).
fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if absolute => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::SourceRoot;

    fn name(path: &str) -> (String, bool) {
        let file = SourceRoot::new("/build/redis/").file_name(path);
        (file.name, file.inside)
    }

    #[test]
    fn files_of_the_tree_lose_the_directory_and_src() {
        assert_eq!(name("/build/redis/src/t_stream.c"), ("t_stream.c".into(), true));
        assert_eq!(name("/build/redis/deps/hiredis/sds.c"), ("deps/hiredis/sds.c".into(), true));
        assert_eq!(name("/build/redis/src/../deps/lua/src/lapi.c"), ("deps/lua/src/lapi.c".into(), true));
        assert_eq!(name("/build/redis/./src/./commands/get.c"), ("commands/get.c".into(), true));
    }

    #[test]
    fn other_files_keep_their_path() {
        assert_eq!(name("/build/redis-2/src/a.c"), ("/build/redis-2/src/a.c".into(), false));
        assert_eq!(name("./csu/./csu/errno-loc.c"), ("csu/csu/errno-loc.c".into(), false));
        assert_eq!(name("./string/../sysdeps/a.S"), ("string/../sysdeps/a.S".into(), false));
    }

    #[test]
    fn the_directory_may_be_written_in_any_form() {
        for root in ["/build/redis", "/build/./redis//", "/build/x/../redis"] {
            assert_eq!(SourceRoot::new(root).file_name("/build/redis/src/a.c").name, "a.c");
        }
        assert!(!SourceRoot::new("").file_name("/src/a.c").inside);
    }
}
