"""The settings of `zerolap serve --triggers FILE`: what triggers a measurement, and who is permitted to."""

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from zerolap.build import parse_variant
from zerolap.errors import UsageError
from zerolap.fail_on import FailOn
from zerolap.github import REPOSITORY
from zerolap.named_file import read_named_text
from zerolap.records import FirstFault, RegimeChoice
from zerolap.triggers.names import BRANCHES, TAGS, Login, RefName, RepositoryName, is_same_name
from zerolap.triggers.setting_types import (
    Budget,
    CasesLocation,
    Engine,
    Glob,
    Remote,
    SecretFile,
    SecretPath,
    SecretUrl,
    SettingFault,
    SettingPath,
    Url,
    WebUrl,
)
from zerolap.triggers.trigger import RequiredPermission, Scope

MIB: Final = 1 << 20
GITHUB_MOST_MIB: Final = 25
"""GitHub sends no larger payloads."""
SHORTEST_SECRET: Final = 16
DEFAULT_LABELS: Final[Mapping[str, Scope]] = {"action run:benchmarks": "affected", "action run:all-benchmarks": "all"}
PREVIOUS: Final = "previous"
GLOB: Final = re.compile(r"[*?\[]")

Weekday: TypeAlias = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
LabelName: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""The name of a label; GitHub removes the space around it."""


def _checked_secret(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < SHORTEST_SECRET:
        raise SettingFault(
            f"the secret has fewer than {SHORTEST_SECRET} characters", hint="make one: openssl rand -hex 32"
        )
    return secret


def _checked_variant(words: str) -> str:
    try:
        return parse_variant(words).name
    except UsageError as fault:
        raise SettingFault(fault.message, fault.hint) from fault


class _Part(BaseModel):
    # Errors must not show the input, as a secret may be in the place of another setting.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class GitHubSettings(_Part):
    """The identity of the lab at GitHub: a token, or the App `app_id`; without both, nothing is written to GitHub.

    With `client_id` and the secret of that client, people sign in to the pages by the App.
    """

    api_url: WebUrl = "https://api.github.com"
    webhook_secret: Annotated[SecretFile, AfterValidator(_checked_secret)] | None = Field(
        default=None, alias="webhook_secret_file"
    )
    token: SecretPath | None = Field(default=None, alias="token_file")
    app_id: Annotated[int, Field(strict=True, ge=1)] | None = None
    private_key: SecretPath | None = Field(default=None, alias="private_key_file")
    client_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")] | None = None
    client_secret: Annotated[SecretFile, AfterValidator(_checked_secret)] | None = Field(
        default=None, alias="client_secret_file"
    )

    @model_validator(mode="after")
    def _is_one_identity(self) -> "GitHubSettings":
        if (self.app_id is None) != (self.private_key is None):
            raise SettingFault("an application needs both app_id and private_key_file", hint="set both, or token_file")
        if self.token is not None and self.app_id is not None:
            raise SettingFault("both a token and an application", hint="leave token_file or app_id out")
        if (self.client_id is None) != (self.client_secret is None):
            raise SettingFault("signing in needs both client_id and client_secret_file", hint="set both, or neither")
        if self.client_id is not None and self.app_id is None:
            raise SettingFault("people sign in by an application", hint="set app_id and private_key_file too")
        return self


class LabSettings(_Part):
    """`public_url` is the address of `zerolap serve` for others: links in comments begin with it.

    `reports` is who may read the pages of comparisons and runs: everyone, or holders of a token of the HTTP API.
    `badges` is who may read badges, by default as reports.
    """

    public_url: WebUrl | None = None
    reports: Literal["public", "token"] = "token"
    badges: Literal["public", "token"] | None = None


class Notification(_Part):
    """Where a regression on a watched branch is reported: issues at GitHub, a webhook, Slack."""

    issue: bool = False
    url: WebUrl | None = None
    slack_url: SecretUrl | None = Field(default=None, alias="slack_url_file")


class Measuring(_Part):
    """How to measure; settings that are not given are those of `zerolap compare`.

    `platforms` are names; an empty tuple means all platforms. `cases` are names or globs; `cases_directory` is a
    directory or file of cases, or the name of a suite, instead of the core suite. `budget_seconds` is for trials.
    `regimes` are those that cases are counted in besides.
    With `each_commit`, every commit of a branch is compared with the commit before it. Otherwise the newest commit is
    compared with the commit that was measured last, and supersedes the commits between them.
    """

    platforms: tuple[str, ...] = ()
    cases: tuple[Glob, ...] = ()
    cases_directory: CasesLocation | None = None
    engines: Annotated[tuple[Engine, ...], Field(min_length=1)] | None = None
    budget_seconds: Budget | None = Field(default=None, alias="budget")
    fail_on: FailOn = "regression"
    variant: Annotated[str, AfterValidator(_checked_variant)] = "default"
    notify: Notification = Notification()
    each_commit: bool = False
    regimes: RegimeChoice = "auto"


class RepositorySettings(Measuring):
    """A repository at GitHub whose events are processed.

    A label of `labels` has a pull request measured, a label of `accept_labels` accepts its regressions. `actors`, and
    people with `permission` in the repository, may set labels and write commands. Pushes to `branches` and `tags`,
    which are globs, are measured for everyone who can push. With `check_unlabelled`, pull requests that are not
    measured get a neutral check, so that the check can be required.
    """

    name: RepositoryName
    clone_url: Remote = ""
    labels: dict[LabelName, Scope] = Field(default_factory=lambda: dict(DEFAULT_LABELS))
    accept_labels: tuple[LabelName, ...] = ()
    check_unlabelled: bool = False
    actors: tuple[Login, ...] = ()
    permission: RequiredPermission | None = None
    branches: tuple[Glob, ...] = ()
    tags: tuple[Glob, ...] = ()

    @model_validator(mode="after")
    def _labels_mean_one_thing(self) -> "RepositorySettings":
        measuring = Counter(label.casefold() for label in self.labels)
        if twice := sorted(label for label in self.labels if measuring[label.casefold()] > 1):
            raise SettingFault(f"the labels {' and '.join(twice)} are one to GitHub", hint="keep one of them")
        if both := sorted(label for label in self.accept_labels if label.casefold() in measuring):
            raise SettingFault(f"the label {both[0]} is both to measure and to accept", hint="use two labels")
        return self

    @property
    def remote(self) -> str:
        """The URL or absolute path from which commits are fetched."""
        return self.clone_url or f"https://github.com/{self.name}.git"

    def measuring_label(self, label: str) -> str | None:
        """Return the label of the settings that a label at GitHub is, if it has pull requests measured."""
        return next((measuring for measuring in self.labels if is_same_name(measuring, label)), None)

    def is_accept_label(self, label: str) -> bool:
        """Whether a label at GitHub accepts the regressions of a pull request."""
        return any(is_same_name(accepting, label) for accepting in self.accept_labels)

    def is_actor(self, login: str) -> bool:
        """Whether the settings permit a person, independent of GitHub."""
        return any(is_same_name(login, actor) for actor in self.actors)

    def measures_branch(self, branch: str) -> bool:
        """Whether pushes to a branch are measured."""
        return any(fnmatchcase(branch, glob) for glob in self.branches)

    def measures_tag(self, tag: str) -> bool:
        """Whether a tag is measured."""
        return any(fnmatchcase(tag, glob) for glob in self.tags)


class ScheduleSettings(_Part):
    """Work at a time of each day in UTC, or of each `weekday`.

    `against` is `previous`: `branch` is compared with its commit at the previous run; or a glob of tags: each release
    that matches is compared with the release before it.
    """

    at: time
    weekday: Weekday | None = None
    repository: RepositoryName
    branch: RefName | None = None
    against: Glob = PREVIOUS
    scope: Scope = "all"

    @model_validator(mode="after")
    def _is_complete(self) -> "ScheduleSettings":
        if self.at.tzinfo is not None or self.at.second or self.at.microsecond:
            raise SettingFault("`at` is a time in UTC in hours and minutes", hint='write at = "02:30"')
        if self.against == PREVIOUS and self.branch is None:
            raise SettingFault("no branch", hint='set branch = "unstable", or against to a glob of tags')
        return self


class WatchSettings(Measuring):
    """A git remote that is polled for new commits every `every_seconds`; `name` is its name in reports."""

    remote: Annotated[Remote, Field(min_length=1)]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$")] | None = None
    branches: tuple[Glob, ...] = ()
    tags: tuple[Glob, ...] = ()
    every_seconds: Annotated[float, Field(ge=1, le=86_400)] = 60.0

    @property
    def repository(self) -> str:
        """Its name in triggers, `owner/name`; `watched/NAME` if it has no owner."""
        if self.name is not None and REPOSITORY.fullmatch(self.name):
            return self.name
        place = self.name or self.remote.rstrip("/").removesuffix(".git").replace(":", "/").rpartition("/")[2]
        return f"watched/{re.sub(r'[^A-Za-z0-9._-]', '-', place)[:100]}"

    @property
    def named_branches(self) -> list[str]:
        """The followed branches that are named as they are: those that a glob matches may come later."""
        return [branch for branch in self.branches if not GLOB.search(branch)]

    def follows_branch(self, ref: str) -> bool:
        """Whether a ref, by its full name, is a branch that is followed."""
        return ref.startswith(BRANCHES) and any(fnmatchcase(ref.removeprefix(BRANCHES), glob) for glob in self.branches)

    def follows(self, ref: str) -> bool:
        """Whether a ref, by its full name, is followed."""
        if ref.startswith(TAGS):
            return any(fnmatchcase(ref.removeprefix(TAGS), glob) for glob in self.tags)
        return self.follows_branch(ref)

    @model_validator(mode="after")
    def _watches_something(self) -> "WatchSettings":
        if not self.branches and not self.tags:
            raise SettingFault("neither branches nor tags", hint='set branches = ["main"]')
        return self


class TriggerLimits(_Part):
    """Limits on deliveries, commands and requests of others.

    Deliveries without a valid signature, and requests with a wrong token, are counted by address. Requests of the HTTP
    API count as submissions of the token's actor.
    """

    deliveries_per_minute_per_repository: Count = 600
    deliveries_per_minute_per_actor: Count = 120
    submissions_per_hour_per_actor: Count = 30
    commands_per_hour_per_actor: Count = 30
    forged_per_minute_per_address: Count = 30
    requests_per_minute_per_token: Count = 120
    agent_minutes_per_pull: Count = 120
    body_mib: Annotated[float, Field(gt=0, le=GITHUB_MOST_MIB)] = 5.0
    body_seconds: Annotated[float, Field(gt=0, le=60)] = 10.0

    @property
    def pull_seconds(self) -> float:
        """The time of agents that a request of the priority `pull` may take."""
        return 60.0 * self.agent_minutes_per_pull

    @property
    def body_bytes(self) -> int:
        """The size of the largest body that is read."""
        return int(self.body_mib * MIB)


class EventSettings(_Part):
    """The destinations of events: a file with lines of JSON, and a stream of a Redis server."""

    file: SettingPath | None = None
    redis: Annotated[Url, Field(pattern=r"^rediss?://|^unix://")] | None = None
    redis_url: SecretFile | None = Field(default=None, alias="redis_url_file")
    stream: Annotated[str, Field(min_length=1, max_length=255)] = "zerolap:events"
    maxlen: Annotated[int, Field(strict=True, ge=1)] = 100_000

    @model_validator(mode="after")
    def _is_one_server(self) -> "EventSettings":
        if self.redis is not None and self.redis_url is not None:
            raise SettingFault("two Redis servers", hint="leave redis or redis_url_file out")
        return self


class TriggerSettings(_Part):
    """The content of the file; `[defaults]` applies to every repository and watched remote."""

    github: GitHubSettings = GitHubSettings()
    lab: LabSettings = LabSettings()
    defaults: Measuring = Measuring()
    repositories: tuple[RepositorySettings, ...] = Field(default=(), alias="repository")
    schedules: tuple[ScheduleSettings, ...] = Field(default=(), alias="schedule")
    limits: TriggerLimits = TriggerLimits()
    watches: tuple[WatchSettings, ...] = Field(default=(), alias="watch")
    events: EventSettings = EventSettings()

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, content: Any) -> Any:
        """Add the defaults of the file to each repository and watched remote."""
        defaults = content.get("defaults") if isinstance(content, dict) else None
        if not isinstance(defaults, dict):
            return content
        return content | {
            name: [defaults | entry if isinstance(entry, dict) else entry for entry in content[name]]
            for name in ("repository", "watch")
            if isinstance(content.get(name), list)
        }

    @model_validator(mode="after")
    def _fits_together(self) -> "TriggerSettings":
        if self.github.client_id is not None and self.lab.public_url is None:
            raise SettingFault("GitHub has to lead people back who sign in", hint="set public_url under [lab]")
        names = [repository.name.lower() for repository in self.repositories]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise SettingFault(f"two entries of the repository {twice[0]}", hint="keep one of them")
        watched = [watch.repository.lower() for watch in self.watches]
        if twice := sorted({name for name in watched if name in names or watched.count(name) > 1}):
            raise SettingFault(
                f"two entries are called {twice[0]} in reports", hint='give a watch a name: name = "fork"'
            )
        for schedule in self.schedules:
            if schedule.repository.lower() not in names:
                raise SettingFault(
                    f"a schedule is for {schedule.repository}, which is no repository of this file",
                    hint=f'add [[repository]] with name = "{schedule.repository}"',
                )
        return self

    def require_served(self, served: Collection[str]) -> None:
        """Raise `UsageError` for a platform in the settings that is not served."""
        for measuring in (*self.repositories, *self.watches):
            for name in measuring.platforms:
                if name not in served:
                    raise UsageError(
                        f"the platform {name} of the trigger settings is not served",
                        hint=f"platforms: {', '.join(sorted(served))}",
                    )

    def measured(self, name: str) -> RepositorySettings | WatchSettings | None:
        """Return the settings of a repository or a watched remote by its name in triggers."""
        watched = (watch for watch in self.watches if is_same_name(watch.repository, name))
        return self.repository(name) or next(watched, None)

    def repository(self, name: str) -> RepositorySettings | None:
        """Return the settings of a repository; None if the file does not have it."""
        return next((entry for entry in self.repositories if is_same_name(entry.name, name)), None)


def read_trigger_settings(path: Path) -> TriggerSettings:
    """Return the settings in a file, with the secrets in the files that it names; raises `UsageError`."""
    try:
        content = tomllib.loads(read_named_text(path, MIB, hint="docs/zero-touch.md has an example"))
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is not TOML: {fault}") from fault
    return checked_settings(content, path.resolve().parent, str(path))


def checked_settings(content: Mapping[str, Any], directory: Path, place: str = "") -> TriggerSettings:
    """Return settings from the content of a file, whose paths are relative to a directory; raises `UsageError`."""
    try:
        return TriggerSettings.model_validate(content, context={"directory": directory})
    except ValidationError as fault:
        raise _usage_error(place, fault) from None


def _usage_error(place: str, fault: ValidationError) -> UsageError:
    """Return the first fault with the name of the setting, without its value, which may be a secret."""
    first = FirstFault.of(fault, leaving_out=["[key]"])
    what, hint = first.what, ""
    if first.kind == "missing":
        what, hint = "this has to be set", "docs/zero-touch.md lists the settings"
    elif first.kind == "extra_forbidden":
        what, hint = "there is no such setting", _hint_for(first.location.rpartition(".")[2])
    elif isinstance(first.cause, SettingFault):
        what, hint = first.cause.message, first.cause.hint
    return UsageError(": ".join(filter(None, [place, first.location, what])), hint)


def _hint_for(name: str) -> str:
    models = (
        TriggerSettings,
        GitHubSettings,
        LabSettings,
        Notification,
        RepositorySettings,
        ScheduleSettings,
        WatchSettings,
        TriggerLimits,
        EventSettings,
    )
    known = {field.alias or key for model in models for key, field in model.model_fields.items()}
    near = difflib.get_close_matches(name, sorted(known), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else "docs/zero-touch.md lists the settings"
