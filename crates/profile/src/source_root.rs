//! File names as the graphs give them: relative to the source tree.

/// What the lab's own builds name their source tree in debug information.
const TREE_OF_BUILDS: &str = "/zerolap/source/";
/// Where the lab builds (python/zerolap/build/builder.py): `w-`, eight characters, one of `TRIES`, and `source`.
const WORK_PREFIX: &str = "w-";
const WORK_NAME_BYTES: usize = 10;
const TRIES: [&str; 2] = ["continued", "anew"];

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
        match self.prefix.as_deref().and_then(|prefix| relative_to(prefix, &cleaned)) {
            Some(relative) => {
                FileName { name: relative.strip_prefix("src/").unwrap_or(relative).to_owned(), inside: true }
            }
            None => FileName { name: cleaned, inside: false },
        }
    }
}

/// The path below the tree, none for a file elsewhere.
///
/// Where make goes on in the tree of an earlier build, link-time optimization names the files that it did not compile
/// again by where that tree was.
fn relative_to<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(prefix).or_else(|| if prefix == TREE_OF_BUILDS { below_earlier_tree(path) } else { None })
}

fn below_earlier_tree(path: &str) -> Option<&str> {
    let mut rest = path;
    loop {
        let (name, after) = rest.split_once('/')?;
        let is_work = name.len() == WORK_NAME_BYTES && name.starts_with(WORK_PREFIX);
        let tree = after.split_once('/').filter(|(tried, _)| is_work && TRIES.contains(tried));
        if let Some(below) = tree.and_then(|(_, tree)| tree.strip_prefix("source/")) {
            return Some(below);
        }
        rest = after;
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
    fn files_of_an_earlier_tree_of_the_lab_are_those_of_the_tree() {
        let name = |path: &str| SourceRoot::new("/zerolap/source").file_name(path);
        assert_eq!(name("/zerolap/source/src/listpack.c").name, "listpack.c");
        for tree in [
            "/w-co85gamm/continued/source",
            "/zerolap/source/../../x/store/builds/w-fdm2qr5h/anew/source",
            "/home/w-projects/builds/w-fdm2qr5h/anew/source",
        ] {
            let file = name(&format!("{tree}/src/listpack.c"));
            assert_eq!((file.name.as_str(), file.inside), ("listpack.c", true));
        }
        for other in
            ["/w-co85gamm/else/source/src/a.c", "/w-co85gamm/anew/deps/a.c", "/w-short/anew/source/a.c", "/w-co85gamm"]
        {
            assert!(!name(other).inside, "{other}");
        }
        assert!(!SourceRoot::new("/build/redis").file_name("/w-co85gamm/anew/source/src/a.c").inside);
    }

    #[test]
    fn the_directory_may_be_written_in_any_form() {
        for root in ["/build/redis", "/build/./redis//", "/build/x/../redis"] {
            assert_eq!(SourceRoot::new(root).file_name("/build/redis/src/a.c").name, "a.c");
        }
        assert!(!SourceRoot::new("").file_name("/src/a.c").inside);
    }
}
