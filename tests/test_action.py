"""The GitHub Action: its description, and its steps in a shell, as a runner carries them out."""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from action_runner import PINNED, Job, Runner, clean_environment, commands
from github_state import WORKFLOW
from made_records import CULPRIT, SERVER, a_case, a_comparison, a_verdict, an_invalid_case, changed
from played_github import PlayedGitHub
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource

import zerolap
from zerolap.build import resolve
from zerolap.records import RevisionSource, UsageError
from zerolap.report.document import comparison_markdown

PROJECT = Path(__file__).parent.parent
ACTION = yaml.safe_load((PROJECT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
SCRIPT = PROJECT / "action" / "run.py"
REPOSITORY, NUMBER = "octo/server", 7
TOKEN, FORK_TOKEN = "ghs_workflow", "ghs_fork"
HOSTILE = "a';touch${IFS}PWNED;'`touch${IFS}PWNED`$(touch${IFS}PWNED)&&touch${IFS}PWNED||x"
PROGRAM = f"""\
#!{sys.executable}
import sys

sys.path[:0] = {[str(Path(zerolap.__file__).parents[1])]}
sys.argv[0] = "zerolap"
from zerolap.cli import main

main()
"""


# The description


def test_every_action_that_is_used_is_pinned() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(PINNED.fullmatch(uses) for uses in used)
    lines = [line for line in (PROJECT / "action.yml").read_text().splitlines() if "uses:" in line]
    assert all(re.search(r"# v\d+\.\d+\.\d+$", line) for line in lines)


def test_no_step_interpolates_into_its_shell() -> None:
    in_shell = [step for step in STEPS if "run" in step]
    assert ACTION["runs"]["using"] == "composite"
    assert all("${{" not in step["run"] for step in in_shell)
    assert all(step["shell"] == "bash" for step in in_shell)
    assert all(("run" in step) != ("uses" in step) for step in STEPS)


def test_every_input_and_output_is_described_and_used() -> None:
    text = (PROJECT / "action.yml").read_text()
    for name, described in ACTION["inputs"].items():
        assert described["description"]
        assert f"inputs.{name} " in text, name
    identified = {step["id"] for step in STEPS if "id" in step}
    for described in ACTION["outputs"].values():
        assert described["description"]
        [step] = re.findall(r"steps\.(\w+)\.", described["value"])
        assert step in identified


def test_the_script_runs_on_an_old_python() -> None:
    ast.parse(SCRIPT.read_text(), feature_version=(3, 8))


def test_the_example_of_a_workflow_is_pinned_and_uses_what_there_is() -> None:
    workflow = yaml.safe_load((PROJECT / "docs" / "examples" / "github-workflow.yml").read_text())
    steps = workflow["jobs"]["compare"]["steps"]
    own = [step for step in steps if step["uses"] == "OWNER/zerolap@COMMIT"]
    assert len(own) == 1
    assert own[0]["with"].keys() <= ACTION["inputs"].keys()
    assert all(PINNED.fullmatch(step["uses"]) for step in steps if step not in own)
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    # YAML takes the key `on` for true.
    assert set(workflow[True]) == {"pull_request", "push"}
    for name in re.findall(r"steps\.zerolap\.outputs\.([\w-]+)", str(workflow)):
        assert name in ACTION["outputs"]


def test_the_documentation_has_all_inputs_and_outputs() -> None:
    text = (PROJECT / "docs" / "continuous-integration.md").read_text()
    for name in [*ACTION["inputs"], *ACTION["outputs"]]:
        assert f"`{name}`" in text, name


def test_the_example_for_gitlab_compares_and_writes_a_note(tmp_path: Path) -> None:
    job = yaml.safe_load((PROJECT / "docs" / "examples" / "gitlab-ci.yml").read_text())["benchmarks"]
    programs, project = tmp_path / "programs", tmp_path / "project"
    programs.mkdir()
    project.mkdir()
    for name, does in (("zerolap", 'touch "$CI_PROJECT_DIR/zerolap-report/report.md"; exit 1'), ("curl", "")):
        (programs / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" >"{tmp_path}/{name}.said"\n{does}\n')
        (programs / name).chmod(0o755)
    environment = {
        **clean_environment(),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path),
        "CI_PROJECT_DIR": str(project),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "b" * 40,
        "CI_COMMIT_SHA": "a" * 40,
        "CI_API_V4_URL": "https://gitlab.example/api/v4",
        "CI_MERGE_REQUEST_PROJECT_ID": "12",
        "CI_MERGE_REQUEST_IID": "7",
        "ZEROLAP_TOKEN": "glpat",
    }
    for part, code in (("script", 1), ("after_script", 0)):
        text = "\n".join(job[part])
        done = subprocess.run(["sh", "-e", "-c", text], cwd=project, env=environment, check=False)
        assert done.returncode == code
    directory, verb, base, head, *options = (tmp_path / "zerolap.said").read_text().splitlines()
    assert Path(directory) != project
    assert (verb, base, head) == ("compare", "b" * 40, "a" * 40)
    assert options[options.index("--store") + 1] == str(project / job["cache"]["paths"][0].rstrip("/"))
    assert set(options) & {"--json", "--markdown", "--html", "--fail-on"}
    said = (tmp_path / "curl.said").read_text()
    assert said.endswith("https://gitlab.example/api/v4/projects/12/merge_requests/7/notes\n")
    assert f"body@{project}/zerolap-report/report.md" in said


@pytest.mark.parametrize("text", ["/approve", "\n/merge", "x\n\n/close\n", "- a\n/label ~b"])
def test_no_line_of_a_report_is_a_quick_action_of_gitlab(text: str) -> None:
    case = an_invalid_case(text, failure=text)
    finding = changed(CULPRIT, function=text, file=text, text=text)
    worse = a_case(f"b{text}", a_verdict("regression"), findings=[finding])
    server = changed(SERVER, name=text, version=text, flags=text)
    comparison = a_comparison([case, worse], notes=[text], command_line=text, base=server, head=server)
    lines = comparison_markdown(comparison).splitlines()
    assert [line for line in lines if line.lstrip().startswith("/")] == []


# The script


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, on a runner that knows nothing yet."""
    for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("INPUT_VERSION", "INPUT_STORE_KEY", "RUNNER_ENVIRONMENT", "GITHUB_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    spec = importlib.util.spec_from_file_location("action_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "zerolap").mkdir()
    return module


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("1.2.3rc1", "zerolap==1.2.3rc1"),
        (
            "https://example.org/zerolap-1.whl#sha256=" + "a" * 64,
            "https://example.org/zerolap-1.whl#sha256=" + "a" * 64,
        ),
    ],
)
def test_versions(script: ModuleType, version: str, wanted: str) -> None:
    assert script.requirement(version) == wanted


def own_checkout(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the Action lie in a directory, without what it depends on, whose builder makes a wheel of the name."""
    action = tmp_path / "action"
    (action / "requirements").mkdir(parents=True)
    (action / "scripts").mkdir()
    (action / "requirements" / "runtime.txt").write_text("# nothing\n")
    (action / "requirements" / "development.txt").write_text("a==1 \\\n    --hash=sha256:aa\nmaturin==1.16.0\nz==2\n")
    wheel = a_wheel(tmp_path)
    (action / "scripts" / "wheel").write_text(f"#!/bin/sh\nmkdir -p {action}/dist\ncp {wheel} {action}/dist/\n")
    (action / "scripts" / "wheel").chmod(0o755)
    monkeypatch.setattr(script, "ACTION", action)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return action


@pytest.mark.slow
def test_by_default_the_checkout_of_the_action_is_built_once(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = own_checkout(script, tmp_path, monkeypatch)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in script.BUILDERS:
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(script.ActionFault, match="cannot be built"):
        # Its builder is not there: there is no package index.
        script.install()
    monkeypatch.setattr(script, "locked_builder", lambda: "# nothing\n")
    assert script.install() == 0
    said = subprocess.run([script.PROGRAM], capture_output=True, text=True, check=True).stdout
    assert said == "the program of the wheel\n"
    (action / "scripts" / "wheel").write_text("#!/bin/sh\nexit 1\n")
    assert script.install() == 0


def test_what_a_default_needs_is_named(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_checkout(script, tmp_path, monkeypatch)
    monkeypatch.setattr(shutil, "which", lambda program, path=None: None)
    with pytest.raises(script.ActionFault, match=r"no cargo and no node and no npm.*a wheel as the input version"):
        script.install()
    assert script.locked_builder() == "maturin==1.16.0\n"
    monkeypatch.setattr(script, "ACTION", PROJECT)
    first, *hashes = script.locked_builder().splitlines()
    assert first.startswith("maturin==")
    assert hashes
    assert all(line.strip().startswith("--hash=sha256:") for line in hashes)


@pytest.mark.parametrize("version", ["--index-url=https://evil.example", "1.0 evil", "evil", "git+https://x/y"])
def test_what_is_no_version(script: ModuleType, version: str) -> None:
    with pytest.raises(script.ActionFault):
        script.requirement(version)


@pytest.mark.slow
def test_a_wheel_is_installed_beside_what_is_locked(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = tmp_path / "action"
    (action / "requirements").mkdir(parents=True)
    (action / "requirements" / "runtime.txt").write_text("# nothing\n")
    wheel = a_wheel(tmp_path)
    monkeypatch.setattr(script, "ACTION", action)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("INPUT_VERSION", wheel.name)
    assert script.install() == 0
    said = subprocess.run([script.PROGRAM], capture_output=True, text=True, check=True).stdout
    assert said == "the program of the wheel\n"
    assert (tmp_path / "GITHUB_PATH").read_text() == f"{script.BIN}\n"
    assert sorted(path.name for path in script.BIN.iterdir()) == ["zerolap"]
    monkeypatch.setenv("INPUT_VERSION", "9.9.9")
    with pytest.raises(script.ActionFault, match=r"zerolap==9\.9\.9 cannot be installed"):
        script.install()


def a_wheel(directory: Path) -> Path:
    """Make a wheel of the name whose program says that it is there."""
    path = directory / "zerolap-7.7-py3-none-any.whl"
    information = "zerolap-7.7.dist-info"
    files = {
        "program_of_wheel.py": "def main():\n    print('the program of the wheel')\n",
        f"{information}/METADATA": "Metadata-Version: 2.1\nName: zerolap\nVersion: 7.7\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{information}/entry_points.txt": "[console_scripts]\nzerolap = program_of_wheel:main\n",
    }
    records = "".join(f"{name},,\n" for name in [*files, f"{information}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{information}/RECORD": records}.items():
            archive.writestr(name, text)
    return path


def test_only_a_machine_of_githubs_is_changed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    restricts = tmp_path / "restricts"
    restricts.write_text("1\n")
    monkeypatch.setattr(script, "RESTRICTS_NAMESPACES", restricts)
    monkeypatch.setattr(script, "as_root", lambda *command: asked.append(" ".join(command)))
    monkeypatch.setattr(script, "link_programs", lambda program: None)
    monkeypatch.setattr(script, "environment_with", lambda version: Path("zerolap"))
    monkeypatch.setattr(shutil, "which", lambda program: None)
    monkeypatch.setenv("RUNNER_ENVIRONMENT", "self-hosted")
    script.install()
    assert asked == []
    monkeypatch.setenv("RUNNER_ENVIRONMENT", "github-hosted")
    script.install()
    assert [command.split()[0] for command in asked] == ["apt-get", "apt-get", "apparmor_parser"]
    assert "valgrind" in asked[1]


def test_an_output_cannot_set_another(script: ModuleType, tmp_path: Path) -> None:
    from action_runner import assignments

    script.set_output("first", "1\nsecond=2\nend-\n")
    script.set_output("third", HOSTILE)
    outputs = assignments((tmp_path / "GITHUB_OUTPUT").read_text())
    assert outputs == {"first": "1\nsecond=2\nend-\n", "third": HOSTILE}


def test_a_message_is_one_command_of_the_runner(script: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    script.annotate("warning", "100 %\n::error::forged")
    script.run(["echo", "::error::forged"])
    assert commands(capfd.readouterr().out) == [("warning", "100 %\n::error::forged")]


def test_a_store_that_is_too_large_is_begun_anew(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    (script.STORE / "builds").mkdir(parents=True)
    (script.STORE / "builds" / "program").write_bytes(b"x" * (2 << 20))
    monkeypatch.setenv("INPUT_STORE_LIMIT_MIB", "2")
    script.limit_store()
    assert (script.STORE / "builds" / "program").exists()
    monkeypatch.setenv("INPUT_STORE_LIMIT_MIB", "1")
    script.limit_store()
    assert list(script.STORE.iterdir()) == []


def test_inputs_become_arguments(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my cases.yml").touch()
    inputs = {"CASES": "get-*\n\n  toy; rm -rf /\n", "CASES_DIRECTORY": "my cases.yml", "QUICK": "true", "BUDGET": "8m"}
    for name, value in inputs.items():
        monkeypatch.setenv(f"INPUT_{name}", value)
    words = ["get-*", "toy; rm -rf /", "--repo", "server", "--cases", "server/my cases.yml"]
    assert script.arguments(tmp_path, "server") == [*words, "--budget", "8m", "--quick"]
    monkeypatch.setenv("INPUT_CASES_DIRECTORY", "geo")
    assert script.arguments(tmp_path, "server")[5] == "geo"
    monkeypatch.setenv("INPUT_QUICK", "yes")
    with pytest.raises(script.ActionFault, match="quick"):
        script.arguments(tmp_path, "server")
    monkeypatch.setenv("INPUT_CASES", "--unsafe-no-sandbox")
    with pytest.raises(script.ActionFault, match="cases"):
        script.arguments(tmp_path, "server")


# What is compared


@pytest.fixture
def origin(tmp_path: Path) -> ToySource:
    """A repository in which a branch left `main` at its first commit; `main` went on."""
    source = ToySource(tmp_path / "origin")
    source.git("branch", "--force", "main", source.first)
    source.git("checkout", "--quiet", "main")
    for number in range(3):
        (source.path / "README").write_text(f"{number}\n")
        source.commit(f"main goes on {number}")
    return source


def open_pull_request(source: ToySource, head: str, branch: str = "change") -> None:
    """Make the refs that GitHub has for a pull request."""
    source.git("branch", "--force", branch, head)
    source.git("checkout", "--quiet", "--force", "--detach", "main")
    source.git("merge", "--quiet", "--no-ff", "--message", "merged", head)
    source.git("update-ref", f"refs/pull/{NUMBER}/merge", "HEAD")
    source.git("update-ref", f"refs/pull/{NUMBER}/head", head)


def check_out(source: ToySource, directory: Path, depth: int = 1) -> Path:
    """Check out the merge of the pull request, as actions/checkout does."""
    shutil.rmtree(directory, ignore_errors=True)
    git = ["git", "-C", str(directory)]
    subprocess.run(["git", "init", "--quiet", str(directory)], check=True)
    subprocess.run([*git, "remote", "add", "origin", source.path.as_uri()], check=True)
    whole = ["--depth", str(depth)] if depth else []
    reference = f"+refs/pull/{NUMBER}/merge:refs/remotes/pull/{NUMBER}/merge"
    subprocess.run([*git, "fetch", "--quiet", "--no-tags", *whole, "origin", reference], check=True)
    subprocess.run([*git, "checkout", "--quiet", f"refs/remotes/pull/{NUMBER}/merge"], check=True)
    return directory


def of_another_user(directory: Path) -> None:
    """Give a repository to another user, as the runner's checkout is to the user of a container."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in (directory, *directory.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)


def test_a_checkout_of_another_user_is_read(
    script: ModuleType, origin: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_another_user(origin.path)
    monkeypatch.setenv("HOME", str(tmp_path))
    checkout = script.Checkout(origin.path)
    checkout.require_readable()
    assert checkout.commit(origin.first) == origin.first
    # The lab, which the Action starts, gets the same setting, and for no other repository.
    other = ToySource(tmp_path / "other")
    of_another_user(other.path)
    with pytest.raises(UsageError, match="not a git repository that can be read"):
        resolve(other.first, other.path)
    for name, value in script.trusting(origin.path).items():
        monkeypatch.setenv(name, value)
    assert isinstance(resolve(origin.first, origin.path), RevisionSource)
    with pytest.raises(UsageError, match="not a git repository that can be read"):
        resolve(other.first, other.path)


def test_what_git_cannot_do_is_named(script: ModuleType, origin: ToySource, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place, reason in (("empty", "not a git repository"), ("absent", "No such file or directory")):
        with pytest.raises(script.ActionFault, match=reason):
            script.Checkout(tmp_path / place).require_readable()
    open_pull_request(origin, origin.first)
    checkout = script.Checkout(check_out(origin, tmp_path / "checkout"))
    subprocess.run(["git", "-C", str(checkout.directory), "remote", "set-url", "origin", "/nowhere"], check=True)
    with pytest.raises(script.ActionFault, match=r"no commit a{40}, and it cannot be fetched: .*nowhere"):
        checkout.commit("a" * 40)


@pytest.mark.parametrize("depth", [0, 1])
def test_the_base_is_the_merge_base(script: ModuleType, origin: ToySource, tmp_path: Path, depth: int) -> None:
    head = origin.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    open_pull_request(origin, head)
    checkout = script.Checkout(check_out(origin, tmp_path / "server", depth))
    main = checkout.commit(origin.git("rev-parse", "main"))
    assert checkout.commit(head) == head
    assert checkout.merge_base(main, head) == origin.first
    assert checkout.commit("change") == head
    assert checkout.commit(f"{head}~1") == origin.first
    with pytest.raises(script.ActionFault, match="no commit"):
        checkout.commit("--upload-pack=touch PWNED")


def test_a_name_of_a_tag_and_a_branch_is_refused(script: ModuleType, origin: ToySource, tmp_path: Path) -> None:
    head = origin.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    origin.git("branch", "both", head)
    origin.git("tag", "--annotate", "--message", "first", "both", origin.first)
    open_pull_request(origin, head)
    checkout = script.Checkout(check_out(origin, tmp_path / "server", depth=1))
    for name in ("both", "both~1"):
        with pytest.raises(script.ActionFault, match="both is ambiguous: write refs/tags/both or refs/heads/both"):
            checkout.commit(name)
    assert checkout.commit("refs/heads/both") == head
    assert checkout.commit("refs/tags/both") == origin.first
    # A branch in a directory of the name is another one.
    origin.git("branch", "--force", "feature/both", head)
    origin.git("tag", "feature", origin.first)
    assert checkout.commit("feature") == origin.first
    origin.git("branch", "--force", "both", origin.first)
    assert checkout.commit("both") == origin.first


def test_a_newer_merge_base_is_not_hidden_by_a_cut_history(
    script: ModuleType, origin: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The branch has the oldest commit of main at hand, and a newer one behind several of its own.
    newer = origin.git("rev-parse", "main~2")
    origin.git("checkout", "--quiet", "--force", newer)
    for number in range(8):
        own = origin.commit(f"own {number}")
    origin.git("checkout", "--quiet", "--force", "--detach", origin.first)
    origin.git("merge", "--quiet", "--no-ff", "--message", "late", own)
    head = origin.git("rev-parse", "HEAD")
    open_pull_request(origin, head)
    monkeypatch.setattr(script, "DEPTHS", (5,))
    checkout = script.Checkout(check_out(origin, tmp_path / "server"))
    main = checkout.commit(origin.git("rev-parse", "main"))
    assert checkout.merge_base(main, checkout.commit(head)) == newer


def test_a_push_is_compared_with_what_it_has_replaced(
    script: ModuleType, origin: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed, before = origin.git("rev-parse", "main"), origin.git("rev-parse", "main~2")
    open_pull_request(origin, pushed)
    checkout = script.Checkout(check_out(origin, tmp_path / "server"))
    for replaced, base in ((before, before), ("0" * 40, "main~1"), ("d" * 40, "main~1")):
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"before": replaced}))
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
        monkeypatch.setenv("GITHUB_SHA", pushed)
        assert script.revisions(checkout) == (origin.git("rev-parse", base), pushed)


# The whole


@dataclass
class Scene:
    """GitHub, the repository of the server, and a runner that uses the Action."""

    github: PlayedGitHub
    source: ToySource
    runner: Runner
    directory: Path

    def use(self, head: str, /, *, branch: str = "change", token: str = TOKEN, **inputs: str) -> Job:
        """Run the workflow for a commit of the pull request."""
        open_pull_request(self.source, head, branch)
        workspace = check_out(self.source, self.directory / "server")
        event = self.directory / "event.json"
        sides = {
            "head": {"sha": head, "ref": branch},
            "base": {"sha": self.source.git("rev-parse", "main"), "ref": "main"},
        }
        event.write_text(json.dumps({"pull_request": {"number": NUMBER, "title": HOSTILE, "body": HOSTILE, **sides}}))
        github = {
            "repository": REPOSITORY,
            "sha": self.source.git("rev-parse", f"refs/pull/{NUMBER}/merge"),
            "api_url": self.github.url,
            "server_url": "https://github.example",
            "token": token,
            "head_ref": branch,
        }
        chosen = {"version": "installed", "cases": "toy-get", "cases-directory": "cases.yml", "quick": "true"}
        return self.runner.use({**chosen, **inputs}, github, workspace, event)

    def comments(self) -> list[str]:
        return self.github.bodies(REPOSITORY, NUMBER, WORKFLOW)


@pytest.fixture
def scene(tmp_path: Path, origin: ToySource) -> Iterator[Scene]:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "zerolap").write_text(PROGRAM)
    (programs / "zerolap").chmod(0o755)
    environment = clean_environment()
    environment |= {"PATH": f"{programs}:{environment['PATH']}", "TMPDIR": str(tmp_path)}
    with PlayedGitHub.started() as github:
        github.add_repository(REPOSITORY)
        github.add_pull_request(REPOSITORY, NUMBER, origin.first, origin.first)
        github.give_workflow_token(TOKEN)
        github.give_workflow_token(FORK_TOKEN, is_read_only=True)
        yield Scene(github, origin, Runner(PROJECT, tmp_path / "runner", environment), tmp_path)
        assert github.violations == []


def built(log: str) -> list[str]:
    return re.findall(r"^building (\S+)", log, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_pull_request_gets_one_comment_and_the_store_is_kept(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    failing = scene.use(head, **{"fail-on": "work"})
    assert failing.code == 1, failing.log
    assert failing.annotated("error") == ["--fail-on work applies: the log has the reason, the summary the cases"]
    assert built(failing.log) == [scene.source.first[:12], head[:12]]
    (comment,) = scene.comments()
    assert "GET" in comment
    assert "more work" in comment
    assert f"https://github.example/{REPOSITORY}/compare/{scene.source.first}...{head}" in comment
    assert f"https://github.example/{REPOSITORY}/actions/runs/1" in comment
    assert "src/commands.c#L" in comment
    assert str(scene.directory) not in comment
    assert re.search(r"\*\*GET does \d+ % more work\*\*", failing.summary)
    assert failing.outputs["regression"] == "1"
    assert failing.outputs["comment-url"].startswith(f"https://github.example/{REPOSITORY}/pull/{NUMBER}#issuecomment-")
    document = json.loads(Path(failing.outputs["json"]).read_text())
    assert document["id"] == failing.outputs["comparison"]
    assert document["base"]["commit"] == scene.source.first
    assert "side=head 1 " in Path(failing.outputs["benchfmt"]).read_text()
    assert Path(failing.outputs["html"]).read_text().startswith("<!")
    assert '<failure type="regression"' in Path(failing.outputs["junit"]).read_text()
    [regression] = json.loads(Path(failing.outputs["sarif"]).read_text())["runs"][0]["results"]
    [place] = regression["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/commands.c"

    scene.source.git("checkout", "--quiet", "--force", head)
    scene.source.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
    (scene.source.path / "src" / "NOTES").write_text("another tree\n")
    second_head = scene.source.commit("as it was")
    passing = scene.use(second_head, **{"fail-on": "work"})
    assert passing.code == 0, passing.log
    assert built(passing.log) == [second_head[:12]], "the base's build is in the kept store"
    (comment,) = scene.comments()
    assert "No change in 1 case" in comment
    assert second_head[:12] in comment
    assert len(scene.runner.cache) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_texts_of_a_fork_do_nothing_and_its_token_fails_nothing(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    job = scene.use(head, branch=HOSTILE, token=FORK_TOKEN, head=HOSTILE, marker=f"a-{'b' * 20}")
    assert job.code == 0, job.log
    (warning,) = job.annotated("warning")
    assert "could not be written" in warning
    assert "fork" in warning
    assert job.annotated("error") == []
    assert re.search(r"\*\*GET does \d+ % more work\*\*", job.summary)
    assert "could not be written" in job.summary
    assert scene.comments() == []
    assert list(scene.directory.rglob("PWNED")) == []
    assert json.loads(Path(job.outputs["json"]).read_text())["head"]["commit"] == head
    # The same on a token that may, told not to.
    silent = scene.use(head, comment="false")
    assert "Comment" not in silent.steps
    assert scene.comments() == []


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_what_does_not_build_ends_the_job_and_its_output_is_no_command(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, '#error "\n::error::forged'))
    job = scene.use(head)
    assert job.code == 4, job.log
    assert job.annotated("error") == ["zerolap compare ended with exit code 4: the log has the reason"]
    assert "No result: exit code 4" in job.summary
    assert job.outputs["comparison"] == ""
    assert scene.comments() == []
    assert "Keep the store" in job.steps


@pytest.mark.usefixtures("compiler")
def test_wrong_inputs_end_the_job(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    for inputs, said in (
        ({"quick": "maybe"}, "neither true nor false"),
        ({"base": "nowhere"}, "no commit nowhere"),
        ({"version": "evil package"}, "neither a version nor a wheel"),
    ):
        job: Any = scene.use(head, **inputs)
        assert job.code == 2, job.log
        assert said in job.annotated("error")[0]
        assert "Conclude" not in job.steps
