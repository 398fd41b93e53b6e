"""The steps of the GitHub Action: `run.py install`, `compare`, `comment` or `conclude`.

It needs nothing but Python's own library, and runs on any Python 3.8 until it has a newer one for Zerolap. All that it
is told comes from the environment: inputs as INPUT_NAME, the rest as GitHub's runner sets it. `compare` reports the
exit code of the comparison as an output, so that the store is kept and the comment written before `conclude` ends with
it.
"""

from __future__ import annotations

import glob
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ACTION = Path(__file__).resolve().parent.parent
ROOT = Path(os.environ["RUNNER_TEMP"], "zerolap")
STORE = ROOT / "store"
BIN = ROOT / "bin"
PROGRAM = BIN / "zerolap"

NEEDED_PYTHON = (3, 11)
# Program and Debian package of what counting, building and the sandbox need.
PACKAGES = {"bwrap": "bubblewrap", "ccache": "ccache", "valgrind": "valgrind"}
RESTRICTS_NAMESPACES = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
SANDBOX_PROFILE = """\
abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
"""
VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?")
WHEEL = re.compile(r"[^\s]+\.whl(#sha256=[0-9a-f]{64})?")
BUILDERS = ("cargo", "node", "npm")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
DEPTHS = (64, 512, 4096)
MIB = 1 << 20
# GitHub shows no summary of a step that is larger than 1 MiB.
MOST_SUMMARY_BYTES = 1000 * 1024
REPORTS = {
    "json": "report.json",
    "markdown": "report.md",
    "html": "report.html",
    "benchfmt": "trials.txt",
    "junit": "tests.xml",
    "sarif": "regressions.sarif",
}
VERDICTS = ("regression", "improvement", "same", "unsure", "invalid")
MISSING = 3
WRONG = 2


class ActionFault(Exception):
    """What ends a step: a message for the user, and the exit code, by the meanings of those of Zerolap."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


# What the runner is told.


def given(name: str) -> str:
    """Return a variable of the environment, without the space around it; empty if it is not set."""
    return os.environ.get(name, "").strip()


def is_true(name: str) -> bool:
    """Return an input that is true or false."""
    value = given(name)
    if value not in ("", "true", "false"):
        raise ActionFault(f"{input_name(name)} is neither true nor false: {value}", WRONG)
    return value == "true"


def input_name(name: str) -> str:
    """Return the name of an input, as a workflow has it."""
    return f"the input {name[len('INPUT_') :].lower().replace('_', '-')}"


def set_output(name: str, value: str) -> None:
    """Set an output of the step; whatever is in the value cannot set another."""
    end = f"end-{secrets.token_hex(16)}"
    append("GITHUB_OUTPUT", f"{name}<<{end}\n{value}\n{end}\n")


def append(variable: str, text: str) -> None:
    """Append to the file that a variable of the runner names."""
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(text)


def annotate(level: str, text: str) -> None:
    """Show a message at the job: `error`, `warning` or `notice`."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=Zerolap::{escaped}", flush=True)


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program whose output goes to the log, in which nothing of it acts as a command of the runner."""
    end = secrets.token_hex(16)
    print(f"::stop-commands::{end}", flush=True)
    try:
        return subprocess.run(command, text=True, check=False, **options)
    finally:
        print(f"\n::{end}::", flush=True)


# install


def install() -> int:
    """Make `zerolap` available to this and the following steps, and name the store and its key in the cache."""
    BIN.mkdir(parents=True, exist_ok=True)
    if given("RUNNER_ENVIRONMENT") == "github-hosted":
        prepare_machine()
    version = given("INPUT_VERSION")
    link_programs(installed_program() if version == "installed" else environment_with(version))
    append("GITHUB_PATH", f"{BIN}\n")
    key = given("INPUT_STORE_KEY")
    keeps = "true" if key else "false"
    # A second use of the Action in a job goes on with the store of the first.
    set_output("restores", "false" if STORE.exists() else keeps)
    set_output("keeps", keeps)
    set_output("store", str(STORE))
    prefix = "-".join(["zerolap", key, given("RUNNER_OS"), given("RUNNER_ARCH"), given("GITHUB_JOB"), ""])
    set_output("cache-prefix", prefix)
    # What the cache holds under a key never changes: each run has its own, and takes the newest of the others.
    set_output("cache-key", f"{prefix}{given('GITHUB_RUN_ID')}-{secrets.token_hex(4)}")
    STORE.mkdir(exist_ok=True)
    return 0


def prepare_machine() -> None:
    """Install what is missing on a machine that GitHub makes for this job alone, and let the sandbox work."""
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing:
        as_root("apt-get", "update", "-qq")
        as_root("apt-get", "install", "-qq", "--yes", "--no-install-recommends", *missing, "libc6-dbg")
    if RESTRICTS_NAMESPACES.exists() and RESTRICTS_NAMESPACES.read_text().strip() == "1":
        profile = ROOT / "bwrap.apparmor"
        profile.write_text(SANDBOX_PROFILE)
        as_root("apparmor_parser", "--replace", str(profile))


def as_root(*command: str) -> None:
    """Run a program as root; raises `ActionFault` if it fails."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    program = [*sudo, *command]
    if shutil.which(program[0]) is None or run(program, stdin=subprocess.DEVNULL).returncode != 0:
        raise ActionFault(f"the runner could not be prepared: {' '.join(program)} failed", MISSING)


def installed_program() -> Path:
    """Return the program on the PATH."""
    program = shutil.which("zerolap")
    if program is None:
        raise ActionFault("the input version is installed, but there is no zerolap on the PATH", MISSING)
    return Path(program)


def environment_with(version: str) -> Path:
    """Install a version, by default that of the Action's checkout, into an environment of its own; return the program.

    What it depends on is installed first, in the versions and with the hashes that this Action is pinned to.
    """
    environment = ROOT / "environment"
    wanted = requirement(version) if version else str(built_wheel())
    python = environment_at(environment)
    locked = ["--require-hashes", "--requirement", str(ACTION / "requirements" / "runtime.txt")]
    for what in (locked, ["--only-binary", ":all:", "--", wanted]):
        if not has_installed(python, *what):
            raise ActionFault(f"{wanted} cannot be installed", MISSING)
    return environment / "bin" / "zerolap"


def environment_at(environment: Path) -> Path:
    """Make a virtual environment where there is none yet, and return its Python."""
    python = environment / "bin" / "python"
    if not python.exists() and run([new_python(), "-m", "venv", str(environment)]).returncode != 0:
        raise ActionFault("no virtual environment can be made: is python3-venv installed?", MISSING)
    return python


def has_installed(python: Path, *what: str) -> bool:
    """Have pip install something into the environment of a Python; whether that worked."""
    pip = [str(python), "-I", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    return run([*pip, *what]).returncode == 0


def built_wheel() -> Path:
    """Build the wheel of the Action's own checkout, and return it; one that was built before is taken.

    It does not come from a package index, where the name may belong to somebody else.
    """
    wheels = sorted((ACTION / "dist").glob("zerolap-*.whl"))
    if not wheels:
        absent = [program for program in BUILDERS if shutil.which(program, path=with_cargo()) is None]
        if absent:
            raise ActionFault(
                f"Zerolap is built from the Action's checkout, and there is no {' and no '.join(absent)} on the PATH:"
                " install Rust 1.88 and Node 20.19 or newer, or give a wheel as the input version",
                MISSING,
            )
        builder = ROOT / "builder.txt"
        builder.write_text(locked_builder(), encoding="utf-8")
        python = environment_at(ACTION / ".venv")
        is_built = has_installed(python, "--require-hashes", "--requirement", str(builder)) and (
            run([str(ACTION / "scripts" / "wheel")]).returncode == 0
        )
        wheels = sorted((ACTION / "dist").glob("zerolap-*.whl"))
        if not is_built or not wheels:
            raise ActionFault("Zerolap cannot be built from the Action's checkout: the log has the reason", MISSING)
    return wheels[-1]


def with_cargo() -> str:
    """Return the PATH with the directory where rustup puts Rust."""
    return os.pathsep.join([os.environ.get("PATH", ""), str(Path.home() / ".cargo" / "bin")])


def locked_builder() -> str:
    """Return what builds the wheel, with its version and hashes, from all that development needs."""
    text = (ACTION / "requirements" / "development.txt").read_text(encoding="utf-8")
    builders: list[str] = re.findall(r"^maturin==(?:.*\\\n)*.*\n", text, re.MULTILINE)
    return builders[0]


def requirement(version: str) -> str:
    """Return what pip installs: a version of the index, or a wheel."""
    if VERSION.fullmatch(version):
        return f"zerolap=={version}"
    if not WHEEL.fullmatch(version):
        raise ActionFault(f"the input version is neither a version nor a wheel: {version}", WRONG)
    return version if "://" in version else str(Path(given("GITHUB_WORKSPACE"), version))


def new_python() -> str:
    """Return a Python that Zerolap runs on: this one, one on the PATH, or one that the runner's image brings."""
    names = [shutil.which(f"python3.{minor}") for minor in range(NEEDED_PYTHON[1], NEEDED_PYTHON[1] + 8)]
    brought = glob.glob(os.path.join(given("RUNNER_TOOL_CACHE") or "/opt/hostedtoolcache", "Python/3.*/*/bin/python3"))
    check = f"import sys; sys.exit(sys.version_info < {NEEDED_PYTHON})"
    for python in filter(None, [sys.executable, *names, *brought]):
        if subprocess.run([python, "-c", check], check=False).returncode == 0:
            return python
    raise ActionFault("Zerolap needs Python 3.11 or newer: use actions/setup-python before it", MISSING)


def link_programs(program: Path) -> None:
    """Put the programs, without the Python that they use, into the directory that goes on the PATH."""
    for name in ("zerolap", "zerolap-load"):
        source, link = program.with_name(name), BIN / name
        if source.exists():
            if link.is_symlink():
                link.unlink()
            link.symlink_to(source)


# compare


class Checkout:
    """The server's repository, as checked out: often without history, and without the commits that are compared."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._fetch_fault = ""

    def require_readable(self) -> None:
        """Raise `ActionFault`, with git's own reason, where git cannot read the repository."""
        if shutil.which("git") is None:
            raise ActionFault("git is not installed", MISSING)
        done = self._run("rev-parse", "--git-dir")
        if done.returncode != 0:
            raise ActionFault(f"git cannot read the repository {self.directory}: {first_line(done.stderr)}", WRONG)

    def commit(self, name: str) -> str:
        """Return the hash of a commit, which is fetched if it is not here; raises `ActionFault` if it cannot be had."""
        is_hash = COMMIT.fullmatch(name) is not None
        if not is_hash:
            self._require_unambiguous(re.split("[~^:@]", name)[0])
        found = self._find(name)
        can_be_fetched = is_hash or self._git("check-ref-format", "--branch", name) is not None
        if found is None and can_be_fetched and self._fetch(name, depth=1):
            found = self._find(name if is_hash else "FETCH_HEAD")
        if found is None and self._is_shallow and self._fetch(unshallow=True):
            found = self._find(name)
        if found is None:
            raise ActionFault(f"the repository has no commit {name}{self._fetch_fault}", WRONG)
        return found

    def _require_unambiguous(self, name: str) -> None:
        """Raise `ActionFault` if here or where the checkout came from a tag and a branch of a name differ."""
        if not name:
            return
        refs = [f"refs/tags/{name}", f"refs/heads/{name}"]
        here = self._git("for-each-ref", "--format=%(objectname) %(refname)%0a%(*objectname) %(refname)", *refs)
        there = self._git("ls-remote", "origin", *refs, f"{refs[0]}^{{}}")
        for listed in (here, there):
            # An annotated tag has a second line, with its commit.
            lines = [line.split() for line in (listed or "").splitlines()]
            named = [(words[1].removesuffix("^{}"), words[0]) for words in lines if len(words) == 2]
            # Patterns of refs stand for those in a directory of the name too.
            commits = {ref: commit for ref, commit in named if ref in refs}
            if len(set(commits.values())) > 1:
                raise ActionFault(f"{name} is ambiguous: write refs/tags/{name} or refs/heads/{name}", WRONG)

    def merge_base(self, one: str, other: str) -> str:
        """Return the merge base of two commits that are here, with as much more of their history as that takes."""
        for depth in (0, *DEPTHS, None):
            if depth is None:
                self._fetch(one, other, unshallow=True)
            elif depth:
                self._fetch(one, other, depth=depth)
            base = self._git("merge-base", one, other)
            if base is not None and self._is_certain(base, one, other):
                return base
            if not self._is_shallow:
                break
        raise ActionFault(f"{one} and {other} have no common history that can be had{self._fetch_fault}", WRONG)

    def parent(self, commit: str) -> str:
        """Return the first parent of a commit."""
        return self.commit(f"{commit}^")

    @property
    def _is_shallow(self) -> bool:
        return self._git("rev-parse", "--is-shallow-repository") == "true"

    def _is_certain(self, base: str, one: str, other: str) -> bool:
        """Whether no newer common commit can hide behind where the history is cut off."""
        if not self._is_shallow:
            return True
        file = self._git("rev-parse", "--git-path", "shallow") or "shallow"
        cut_off = set((self.directory / file).read_text().split())
        newer = (self._git("rev-list", one, other, "--not", base) or "").split()
        return cut_off.isdisjoint(newer)

    def _find(self, name: str) -> str | None:
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def _fetch(self, *names: str, depth: int | None = None, unshallow: bool = False) -> bool:
        """Fetch from where the checkout came from; whether that worked. A whole history is never cut off."""
        options = ["--unshallow"] if unshallow else [f"--depth={depth}"]
        if not self._is_shallow:
            options = []
        command = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", *options, "--end-of-options", "origin"]
        done = self._run(*command, *names)
        if done.returncode != 0:
            reason = first_line(done.stderr)
            self._fetch_fault = f", and it cannot be fetched: {reason}"
            run(["printf", "%s", done.stderr], stdin=subprocess.DEVNULL)
        return done.returncode == 0

    def _git(self, *arguments: str) -> str | None:
        """Return what git writes, None if it fails."""
        done = self._run(*arguments)
        return done.stdout.strip() if done.returncode == 0 else None

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **trusting(self.directory), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )

    def _command(self, *arguments: str) -> list[str]:
        return ["git", "-c", "core.hooksPath=/dev/null", "-C", str(self.directory), *arguments]


def first_line(text: str) -> str:
    """Return what git has written before its advice."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].replace("fatal: ", "", 1) if lines else "git has failed"


def trusting(directory: Path) -> dict[str, str]:
    """Return variables by which git reads a repository of another user, as in a job with `container:`.

    That is for this repository alone, which the job has checked out, and for the processes that get the variables.
    """
    count = int(given("GIT_CONFIG_COUNT") or 0)
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "safe.directory",
        f"GIT_CONFIG_VALUE_{count}": str(directory),
    }


def compare() -> int:
    """Compare, write the summary, and report all that follows as outputs; fails only where there is nothing to run."""
    directory = Path(given("GITHUB_WORKSPACE"), given("INPUT_PATH") or ".").resolve()
    checkout = Checkout(directory)
    checkout.require_readable()
    base, head = revisions(checkout)
    limit_store()
    # A directory of its own: a zerolap.toml in the repository has no say, and the command is short to read.
    place = Path(tempfile.mkdtemp(prefix="comparison-", dir=str(ROOT)))
    name = re.sub(r"[^\w.-]", "-", directory.name) or "repository"
    (place / name).symlink_to(directory)
    settings = {**REPORTS, "store": str(STORE)}
    lines = [f"{option} = {json.dumps(value)}\n" for option, value in settings.items()]
    (place / "zerolap.toml").write_text("".join(lines), encoding="utf-8")
    command = [str(PROGRAM), "compare", base[:12], head[:12], *arguments(directory, name)]
    ended = run(command, cwd=str(place), env={**os.environ, **trusting(directory)})
    set_output("exit-code", str(ended.returncode))
    report(place, ended.returncode)
    return 0


def arguments(directory: Path, name: str) -> list[str]:
    """Return the arguments of the comparison but for what is compared; `name` is a link to the repository."""
    cases = [line.strip() for line in given("INPUT_CASES").splitlines() if line.strip()]
    wrong = [case for case in cases if case.startswith("-")]
    if wrong:
        raise ActionFault(f"the input cases names what is no case: {wrong[0]}", WRONG)
    words = [*cases, "--repo", name]
    suite = given("INPUT_CASES_DIRECTORY")
    if suite:
        words += ["--cases", f"{name}/{suite}" if (directory / suite).exists() else suite]
    for option in ("engine", "budget", "min-effect", "variant", "topology", "fail-on"):
        value = given(f"INPUT_{option.upper().replace('-', '_')}")
        words += [f"--{option}", value] if value else []
    for option in ("quick", "unsafe-no-sandbox"):
        words += [f"--{option}"] if is_true(f"INPUT_{option.upper().replace('-', '_')}") else []
    return words


def revisions(checkout: Checkout) -> tuple[str, str]:
    """Return the commits to compare: those of the inputs, else those of the event."""
    event = json.loads(Path(given("GITHUB_EVENT_PATH")).read_text(encoding="utf-8"))
    pull_request = event.get("pull_request")
    tip = pull_request["head"]["sha"] if pull_request else given("GITHUB_SHA")
    head = checkout.commit(given("INPUT_HEAD") or tip)
    if given("INPUT_BASE"):
        return checkout.commit(given("INPUT_BASE")), head
    if pull_request:
        return checkout.merge_base(checkout.commit(pull_request["base"]["sha"]), head), head
    if "merge_group" in event:
        return checkout.commit(event["merge_group"]["base_sha"]), head
    return replaced(checkout, event, head), head


def replaced(checkout: Checkout, event: dict[str, Any], head: str) -> str:
    """Return what a push has replaced; the parent where that is gone, and for other events."""
    before = str(event.get("before", ""))
    if COMMIT.fullmatch(before) and before.strip("0"):
        try:
            return checkout.commit(before)
        except ActionFault as fault:
            annotate(
                "notice", f"what the push has replaced cannot be had: {fault}; the commit is compared with its parent"
            )
    return checkout.parent(head)


def limit_store() -> None:
    """Drop a store that has grown too large for the cache."""
    limit = given("INPUT_STORE_LIMIT_MIB")
    if not limit.isdecimal():
        raise ActionFault(f"the input store-limit-mib is no number: {limit}", WRONG)
    size = sum(file.lstat().st_size for file in STORE.rglob("*") if not file.is_dir())
    if size > int(limit) * MIB:
        annotate("notice", f"the kept store has {size // MIB} MiB; a new one is begun")
        shutil.rmtree(str(STORE))
        STORE.mkdir()


def report(place: Path, code: int) -> None:
    """Set the outputs of a comparison, and write the summary of the job."""
    file = place / REPORTS["json"]
    if not file.exists():
        append("GITHUB_STEP_SUMMARY", f"### Zerolap\n\nNo result: exit code {code}. The log has the reason.\n")
        return
    document = json.loads(file.read_text(encoding="utf-8"))
    set_output("comparison", document["id"])
    for verdict in VERDICTS:
        set_output(verdict, str(document["summary"][verdict]))
    for name, report_file in REPORTS.items():
        set_output(name, str(place / report_file))
    markdown = (place / REPORTS["markdown"]).read_text(encoding="utf-8")
    if len(markdown.encode()) > MOST_SUMMARY_BYTES:
        markdown = "The report is too long to be shown here: the output `markdown` names its file.\n"
    append("GITHUB_STEP_SUMMARY", f"### Zerolap\n\n{markdown}\n")


# comment


def comment() -> int:
    """Comment on the pull request of the event; where that is not possible, say so, and do not fail."""
    event = json.loads(Path(given("GITHUB_EVENT_PATH")).read_text(encoding="utf-8"))
    number = (event.get("pull_request") or {}).get("number")
    if number is None:
        print("no comment: the event is not that of a pull request")
        return 0
    page = f"{given('GITHUB_SERVER_URL')}/{given('GITHUB_REPOSITORY')}/actions/runs/{given('GITHUB_RUN_ID')}"
    login = given("INPUT_LOGIN")
    command = [str(PROGRAM), "comment", given("COMPARISON"), "--pull-request", str(number), "--store", str(STORE)]
    command += ["--marker", given("INPUT_MARKER"), "--report-url", page, *(["--login", login] if login else [])]
    done = run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=str(ROOT))
    if done.returncode == 0:
        url = done.stdout.strip()
        print(f"comment: {url}")
        set_output("url", url)
        return 0
    said = [line for line in done.stderr.splitlines() if line.startswith(("error: ", "hint: "))]
    annotate("warning", "\n".join(["The comment could not be written.", *said]))
    append("GITHUB_STEP_SUMMARY", "The comment on the pull request could not be written; the log has the reason.\n")
    return 0


# conclude


def conclude() -> int:
    """End with the exit code of the comparison."""
    code = int(given("EXIT_CODE") or MISSING)
    if code == 1:
        annotate("error", f"--fail-on {given('INPUT_FAIL_ON')} applies: the log has the reason, the summary the cases")
    elif code:
        annotate("error", f"zerolap compare ended with exit code {code}: the log has the reason")
    return code


STEPS = {"install": install, "compare": compare, "comment": comment, "conclude": conclude}


def main() -> int:
    """Carry out the step that the first argument names; returns its exit code."""
    try:
        return STEPS[sys.argv[1]]()
    except ActionFault as fault:
        annotate("error", str(fault))
        return fault.code


if __name__ == "__main__":
    sys.exit(main())
