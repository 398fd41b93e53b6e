"""Carries out the steps of a composite action in a shell, as GitHub's runner does.

What it knows of a runner: inputs with their defaults, `if`, `env`, `working-directory`, expressions of literals,
contexts, comparisons and the status functions, the files for outputs, environment, path and summary, commands in the
log with `stop-commands`, and `actions/cache/restore` and `save` by directories.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Context: TypeAlias = Mapping[str, Any]
PINNED = re.compile(r"([\w.-]+/[\w./-]+)@[0-9a-f]{40}")
TOKEN = re.compile(r"\s*(?:'((?:[^']|'')*)'|(&&|\|\||==|!=|!|\(|\))|([A-Za-z_][\w.-]*)|(\d+))")
INTERPOLATED = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
COMMAND = re.compile(r"::([\w-]+)(?: [^:]*)?::(.*)")


class Expression:
    """An expression of GitHub's, evaluated while it is read: `||` binds least, then `&&`, comparisons, `!`."""

    def __init__(self, text: str, context: Context, *, has_failed: bool = False) -> None:
        self._tokens = [match.groups() for match in TOKEN.finditer(text)]
        assert "".join(match[0] for match in TOKEN.finditer(text)).strip() == text.strip(), text
        self._context = context
        self._functions: dict[str, Callable[[], object]] = {
            "success": lambda: not has_failed,
            "failure": lambda: has_failed,
            "always": lambda: True,
            "cancelled": lambda: False,
        }
        self.asks_for_status = any(token[2] in self._functions for token in self._tokens)

    def value(self) -> Any:
        result = self._either()
        assert not self._tokens, self._tokens
        return result

    def _either(self) -> Any:
        result = self._both()
        while self._takes("||"):
            other = self._both()
            result = result or other
        return result

    def _both(self) -> Any:
        result = self._compared()
        while self._takes("&&"):
            other = self._compared()
            result = result and other
        return result

    def _compared(self) -> Any:
        result = self._single()
        for operator in ("==", "!="):
            if self._takes(operator):
                return (result == self._single()) is (operator == "==")
        return result

    def _single(self) -> Any:
        if self._takes("!"):
            return not self._single()
        if self._takes("("):
            result = self._either()
            assert self._takes(")")
            return result
        text, operator, name, number = self._tokens.pop(0)
        assert not operator, operator
        if text is not None:
            return text.replace("''", "'")
        if number is not None:
            return int(number)
        return self._named(name)

    def _named(self, name: str) -> Any:
        if name in ("true", "false"):
            return name == "true"
        if self._takes("("):
            assert self._takes(")"), f"{name} has arguments"
            return self._functions[name]()
        value: Any = self._context
        for part in name.split("."):
            value = value.get(part, "") if isinstance(value, Mapping) else ""
        return value

    def _takes(self, operator: str) -> bool:
        if self._tokens and self._tokens[0][1] == operator:
            self._tokens.pop(0)
            return True
        return False


def interpolated(text: object, context: Context) -> str:
    """Return a value of the action with its expressions replaced."""
    return INTERPOLATED.sub(lambda match: shown(Expression(match[1], context).value()), shown(text))


def shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


@dataclass
class Job:
    """How a use of the action ended."""

    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    annotations: list[tuple[str, str]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def annotated(self, level: str) -> list[str]:
        """Return the messages of a level."""
        return [text for kind, text in self.annotations if kind == level]


@dataclass
class Runner:
    """A runner with a cache, on which jobs use an action in a workspace."""

    action: Path
    directory: Path
    environment: dict[str, str]
    cache: dict[str, Path] = field(default_factory=dict)
    jobs: int = 0

    def use(self, inputs: Mapping[str, str], github: Context, workspace: Path, event: Path) -> Job:
        """Carry out a job whose only step is the action; `github` is the context of that name."""
        self.jobs += 1
        temporary = self.directory / "temp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        document = yaml.safe_load((self.action / "action.yml").read_text())
        unknown = inputs.keys() - document["inputs"].keys()
        assert not unknown, unknown
        contexts: dict[str, Any] = {"github": github, "runner": {"os": "Linux", "arch": "X64", "temp": str(temporary)}}
        defaults = {
            name: interpolated(described.get("default", ""), contexts) for name, described in document["inputs"].items()
        }
        contexts |= {"inputs": {**defaults, **inputs}, "steps": {}}
        environment = {
            **self.environment,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_RUN_ID": str(self.jobs),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_JOB": "bench",
            "GITHUB_REPOSITORY": github["repository"],
            "GITHUB_SHA": github["sha"],
            "GITHUB_API_URL": github["api_url"],
            "GITHUB_SERVER_URL": github["server_url"],
            "RUNNER_TEMP": str(temporary),
            "RUNNER_OS": "Linux",
            "RUNNER_ARCH": "X64",
            "RUNNER_ENVIRONMENT": self.environment.get("RUNNER_ENVIRONMENT", "self-hosted"),
        }
        job = Job()
        for step in document["runs"]["steps"]:
            self._step(step, job, contexts, environment, workspace)
        job.outputs = {name: interpolated(out["value"], contexts) for name, out in document["outputs"].items()}
        return job

    def _step(
        self, step: dict[str, Any], job: Job, contexts: dict[str, Any], environment: dict[str, str], workspace: Path
    ) -> None:
        condition = str(step.get("if", "success()")).removeprefix("${{").removesuffix("}}")
        wanted = Expression(condition, contexts, has_failed=job.code != 0)
        if not wanted.asks_for_status and job.code:
            return
        if not wanted.value():
            return
        job.steps.append(step["name"])
        if "uses" in step:
            given = {name: interpolated(value, contexts) for name, value in step["with"].items()}
            outputs = self._cached(step["uses"], given)
        else:
            outputs = self._in_shell(step, job, contexts, environment, workspace)
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": outputs}

    def _in_shell(
        self, step: dict[str, Any], job: Job, contexts: Context, environment: dict[str, str], workspace: Path
    ) -> dict[str, str]:
        assert step["shell"] == "bash"
        place = Path(environment["RUNNER_TEMP"], "_runner", str(len(job.steps)))
        place.mkdir(parents=True)
        files = {name: place / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        script = place / "script.sh"
        script.write_text(interpolated(step["run"], contexts))
        own = {name: interpolated(value, contexts) for name, value in step.get("env", {}).items()}
        directory = workspace / interpolated(step.get("working-directory", "."), contexts)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=directory,
            env={**environment, **own, **{name: str(file) for name, file in files.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        job.log += f"--- {step['name']}\n{done.stdout}"
        job.annotations += commands(done.stdout)
        job.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        job.code = job.code or done.returncode
        environment.update(assignments(files["GITHUB_ENV"].read_text()))
        for line in files["GITHUB_PATH"].read_text().splitlines():
            environment["PATH"] = f"{line}:{environment['PATH']}"
        return assignments(files["GITHUB_OUTPUT"].read_text())

    def _cached(self, uses: str, given: dict[str, str]) -> dict[str, str]:
        """Do what actions/cache does: what is kept under a key never changes, the newest of a prefix is restored."""
        pinned = PINNED.fullmatch(uses)
        assert pinned is not None, uses
        path, key = Path(given["path"]), given["key"]
        if pinned[1] == "actions/cache/save":
            assert key not in self.cache
            self.cache[key] = self.directory / f"cache-{len(self.cache)}"
            shutil.copytree(path, self.cache[key], symlinks=True)
            return {}
        assert pinned[1] == "actions/cache/restore"
        prefix = given["restore-keys"]
        matching = [kept for kept in self.cache if kept == key or kept.startswith(prefix)]
        if matching:
            shutil.copytree(self.cache[matching[-1]], path, symlinks=True, dirs_exist_ok=True)
        return {"cache-matched-key": matching[-1] if matching else ""}


def assignments(text: str) -> dict[str, str]:
    """Return what a file of outputs or variables sets: `name=value`, or `name<<end`, lines, `end`."""
    values = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, heredoc, end = line.partition("<<")
        if heredoc and "=" not in name:
            content = []
            for inner in lines:
                if inner == end:
                    break
                content.append(inner)
            else:
                raise AssertionError(f"{name} has no end")
            values[name] = "\n".join(content)
        elif line:
            name, equals, value = line.partition("=")
            assert equals, line
            values[name] = value
    return values


def commands(log: str) -> list[tuple[str, str]]:
    """Return the commands in a log that the runner obeys, as (name, text)."""
    obeyed, stopped_until = [], None
    for line in log.splitlines():
        match = COMMAND.match(line.lstrip())
        if stopped_until is not None:
            if line.strip() == f"::{stopped_until}::":
                stopped_until = None
        elif match is not None and match[1] == "stop-commands":
            stopped_until = match[2]
        elif match is not None:
            obeyed.append((match[1], match[2].replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")))
    return obeyed


def clean_environment() -> dict[str, str]:
    """Return this process's environment without what a workflow that runs the tests has set."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "RUNNER_", "INPUT_"))}
