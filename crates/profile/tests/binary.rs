//! Binaries made by the C compiler that Rust links with.

use std::path::{Path, PathBuf};
use std::process::Command;

use zerolap_profile::binary::{BinaryError, facts};
use zerolap_profile::functions::source_functions;

const SOURCE: &str = "\
#include \"inlined.h\"
int declared_only(int);

static __attribute__((noinline)) int helper(int x) {
    return x * 3;
}

int main(int count, char **words) {
    (void)words;
    return helper(twice(count));
}
";
const HEADER: &str = "\
static inline __attribute__((always_inline)) int twice(int x) {
    int y = x + x;
    return y * y;
}
";

struct Tree {
    directory: PathBuf,
}

impl Tree {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(directory.join("src")).expect("a directory for the test");
        std::fs::write(directory.join("src/main.c"), SOURCE).expect("a source file");
        std::fs::write(directory.join("src/inlined.h"), HEADER).expect("a header");
        Self { directory }
    }

    fn compile(&self, flags: &[&str]) -> PathBuf {
        self.compile_with("cc", flags)
    }

    fn compile_with(&self, compiler: &str, flags: &[&str]) -> PathBuf {
        let program = self.directory.join("program");
        let status = Command::new(compiler)
            .args(flags)
            .args(["-Wl,--build-id", "-o"])
            .args([program.as_path(), Path::new("main.c")])
            .current_dir(self.directory.join("src"))
            .status();
        assert!(status.expect("a compiler that can be run").success());
        program
    }

    fn root(&self) -> &str {
        self.directory.to_str().expect("a path in UTF-8")
    }
}

#[test]
fn facts_of_a_build_with_debug_information() {
    let facts = facts(&Tree::new("debug").compile(&["-g", "-O2", "-rdynamic"])).expect("an ELF file");
    assert!(facts.build_id.len() >= 32 && facts.build_id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(!facts.stripped && facts.debug_lines && !facts.static_executable);
    assert!(facts.exported_functions >= 1);
    assert!(!facts.compiler.is_empty());
    if facts.compiler.starts_with("GNU C") {
        assert!(facts.flags.split(' ').any(|flag| flag == "-O2"), "{}", facts.flags);
    }
}

#[test]
fn facts_of_a_build_optimised_at_link_time() {
    let facts = facts(&Tree::new("link_time").compile(&["-g", "-O2", "-flto"])).expect("an ELF file");
    assert!(!facts.compiler.contains("GIMPLE") && !facts.compiler.is_empty());
}

/// Its version of DWARF 5 names addresses by their place in a table.
#[test]
fn facts_of_a_build_by_clang() {
    if Command::new("clang").arg("--version").output().is_err() {
        return;
    }
    let tree = Tree::new("clang");
    let program = tree.compile_with("clang", &["-gdwarf-5", "-O2", "-grecord-command-line"]);
    let facts = facts(&program).expect("an ELF file");
    assert!(facts.compiler.contains("clang version"), "{}", facts.compiler);
    assert!(facts.flags.split(' ').any(|flag| flag == "-O2"), "{}", facts.flags);
    let functions = source_functions(&program, tree.root()).expect("an ELF file");
    let found: Vec<_> = functions.iter().map(|f| (f.name.as_str(), f.first_line)).collect();
    assert_eq!(found, [("twice", 1), ("helper", 4), ("main", 8)]);
}

#[test]
fn facts_of_a_stripped_build() {
    let program = Tree::new("stripped").compile(&["-O1", "-s"]);
    let facts = facts(&program).expect("an ELF file");
    assert!(facts.stripped && !facts.debug_lines);
    assert!(!facts.compiler.is_empty() && facts.flags.is_empty());
    assert_eq!(source_functions(&program, "/").expect("an ELF file"), []);
}

#[test]
fn functions_of_the_source_with_their_lines() {
    let tree = Tree::new("functions");
    for flags in [&["-g", "-O2"][..], &["-gdwarf-4", "-O2"], &["-g", "-O0"], &["-g", "-O2", "-flto"]] {
        let program = tree.compile(flags);
        let functions = source_functions(&program, tree.root()).expect("an ELF file");
        let found: Vec<_> = functions.iter().map(|f| (f.file.as_str(), f.name.as_str(), f.first_line)).collect();
        let expected = [("inlined.h", "twice", 1), ("main.c", "helper", 4), ("main.c", "main", 8)];
        assert_eq!(found, expected, "{flags:?}");
        assert!((2..=4).contains(&functions[0].last_line), "{flags:?}: {}", functions[0].last_line);
        assert!((5..=6).contains(&functions[1].last_line), "{flags:?}: {}", functions[1].last_line);
        assert!((10..=11).contains(&functions[2].last_line), "{flags:?}: {}", functions[2].last_line);
    }
}

/// Those of headers outside the tree and mere declarations are left out; a type's name stands for a missing one.
#[test]
fn structures_of_the_source_with_their_members() {
    let tree = Tree::new("structures");
    let header = tree.directory.join("src/inlined.h");
    let functions = std::fs::read_to_string(&header).expect("a file of the tree");
    let structures = "struct entry { char kind; long value; unsigned low : 4, high : 4; };\n\
                      typedef struct { struct entry first; char last; } pair;\n\
                      struct declared;\n\
                      static pair kept = {{1, 2, 3, 4}, 5};\n\
                      static struct declared *other;\n\
                      static inline int used(void) { return kept.last + (other != 0); }\n";
    std::fs::write(&header, format!("{functions}{structures}")).expect("a file of the tree");
    let main = tree.directory.join("src/main.c");
    let program = std::fs::read_to_string(&main).expect("a file of the tree");
    std::fs::write(&main, program + "int exported(void) { return used(); }\n").expect("a file of the tree");
    for flags in [&["-g", "-O2"][..], &["-gdwarf-4", "-O0"], &["-g", "-O2", "-flto"]] {
        let found = zerolap_profile::structs::structures(&tree.compile(flags), tree.root()).expect("an ELF file");
        let found: Vec<_> = found.iter().map(|s| (s.file.as_str(), s.name.as_str(), s.bytes, &s.members[..])).collect();
        let members =
            |named: &[(&str, u64)]| named.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect::<Vec<_>>();
        let entry = members(&[("kind", 0), ("value", 8), ("low", 16), ("high", 16)]);
        let pair = members(&[("first", 0), ("last", 24)]);
        assert_eq!(found, [("inlined.h", "entry", 24, &entry[..]), ("inlined.h", "pair", 32, &pair[..])], "{flags:?}");
    }
}

#[test]
fn functions_outside_the_source_tree_are_left_out() {
    let tree = Tree::new("outside");
    let program = tree.compile(&["-g", "-O2"]);
    assert_eq!(source_functions(&program, "/somewhere/else").expect("an ELF file"), []);
}

#[test]
fn what_is_no_binary_is_refused() {
    let tree = Tree::new("refused");
    assert!(matches!(facts(&tree.directory.join("src/main.c")), Err(BinaryError::Object(_))));
    assert!(matches!(facts(&tree.directory.join("missing")), Err(BinaryError::Io(_))));
    for path in ["/dev/zero", "/dev/tty", "/"] {
        assert!(matches!(facts(Path::new(path)), Err(BinaryError::NotRegular)), "{path}");
    }
    let cut = tree.directory.join("cut");
    let whole = std::fs::read(tree.compile(&["-g", "-O2"])).expect("the program");
    for keep in (0..whole.len()).step_by(whole.len() / 40) {
        std::fs::write(&cut, &whole[..keep]).expect("a shorter copy");
        drop(facts(&cut));
        drop(source_functions(&cut, tree.root()));
    }
    for at in (0..whole.len()).step_by(97) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        std::fs::write(&cut, &changed).expect("a changed copy");
        drop(facts(&cut));
        drop(source_functions(&cut, tree.root()));
    }
}
