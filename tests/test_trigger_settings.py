"""The settings of triggers: what they say is read, secrets come from files of their owner, and faults are named."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from zerolap.errors import UsageError
from zerolap.triggers.settings import DEFAULT_LABELS, TriggerSettings, read_trigger_settings

SECRET = "0123456789abcdef0123456789abcdef"
EXAMPLE = """
[github]
webhook_secret_file = "webhook-secret"
token_file = "keys/token"

[lab]
public_url = "https://lab.example.org/"

[defaults]
platforms = ["arm", "x86"]
budget = "8m"

[[repository]]
name = "redis/redis"
actors = ["maintainer", "renovate[bot]"]
branches = ["unstable", "7.*"]
tags = ["[0-9]*"]

[[repository]]
name = "valkey-io/valkey"
clone_url = "../valkey"
labels = {"perf" = "all"}
permission = "write"
platforms = []
cases = ["geo*"]
cases_directory = "our-cases"
engines = ["counted", "timed"]
budget = 90
fail_on = "work"
variant = "clang,-O2"
notify = {issue = true, url = "https://ci.example.org/hook", slack_url_file = "slack"}

[[schedule]]
at = "02:30"
repository = "redis/redis"
branch = "unstable"

[[schedule]]
at = 04:00:00
weekday = "sunday"
repository = "valkey-io/valkey"
against = "8.*"

[limits]
submissions_per_hour_per_actor = 5
body_mib = 1

[[watch]]
remote = "https://git.example.org/redis.git"
branches = ["main"]
every_seconds = 300

[events]
file = "events.jsonl"
redis = "redis://localhost:6379/1"
stream = "lab"
maxlen = 1000
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "keys").mkdir()
    (tmp_path / "our-cases").mkdir()
    for name, content in (
        ("webhook-secret", f"{SECRET}\n"),
        ("keys/token", "ghp_token"),
        ("slack", "https://hooks.slack.com/services/T/B/secret"),
    ):
        path = tmp_path / name
        path.write_text(content)
        path.chmod(0o600)
    return tmp_path


def read(directory: Path, text: str = EXAMPLE) -> TriggerSettings:
    path = directory / "triggers.toml"
    path.write_text(text)
    return read_trigger_settings(path)


def fault(directory: Path, old: str, new: str) -> UsageError:
    assert old in EXAMPLE
    with pytest.raises(UsageError) as raised:
        read(directory, EXAMPLE.replace(old, new))
    assert raised.value.message.startswith(f"{directory}/triggers.toml")
    return raised.value


def test_all_settings_are_read(directory: Path) -> None:
    settings = read(directory)
    assert settings.github.webhook_secret == SecretStr(SECRET)
    assert settings.github.token == directory / "keys/token"
    assert settings.github.api_url == "https://api.github.com"
    assert settings.lab.public_url == "https://lab.example.org"
    redis, valkey = settings.repositories
    assert (redis.remote, valkey.remote) == ("https://github.com/redis/redis.git", str(directory / "../valkey"))
    assert (redis.labels, valkey.labels) == (dict(DEFAULT_LABELS), {"perf": "all"})
    assert (redis.platforms, redis.budget_seconds) == (("arm", "x86"), 480.0)
    assert (valkey.platforms, valkey.budget_seconds) == ((), 90.0)
    assert valkey.cases_directory == str(directory / "our-cases")
    assert (valkey.variant, valkey.engines, valkey.fail_on) == ("clang,-O2", ("counted", "timed"), "work")
    assert valkey.notify.issue
    assert valkey.notify.slack_url is not None
    assert valkey.notify.slack_url.get_secret_value().startswith("https://hooks.slack.com/")
    nightly, weekly = settings.schedules
    assert (nightly.at.hour, nightly.at.minute, nightly.branch, nightly.against) == (2, 30, "unstable", "previous")
    assert (weekly.weekday, weekly.against, weekly.scope) == ("sunday", "8.*", "all")
    assert (settings.limits.submissions_per_hour_per_actor, settings.limits.body_bytes) == (5, 1 << 20)
    [watch] = settings.watches
    assert (watch.platforms, watch.every_seconds) == (("arm", "x86"), 300)
    assert (settings.events.file, settings.events.stream) == (directory / "events.jsonl", "lab")


def test_an_empty_file_permits_nothing(directory: Path) -> None:
    settings = read(directory, "")
    assert settings.repositories == ()
    assert settings.github.webhook_secret is None
    assert settings.limits.body_bytes == 5 << 20


def test_a_repository_is_known_by_its_name_in_any_case(directory: Path) -> None:
    settings = read(directory)
    redis = settings.repository("Redis/redis")
    assert redis is not None
    assert redis.is_actor("Maintainer")
    assert redis.is_actor("renovate[bot]")
    assert not redis.is_actor("stranger")
    assert redis.measures_branch("7.2")
    assert not redis.measures_branch("topic")
    assert redis.measures_tag("7.4.0")
    assert settings.repository("stranger/redis") is None


def test_secrets_are_not_shown(directory: Path) -> None:
    settings = read(directory)
    for text in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert SECRET not in text
        assert "ghp_token" not in text
        assert "hooks.slack.com" not in text


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602, 0o620, 0o601])
def test_secrets_that_others_can_read_or_change_are_refused(directory: Path, mode: int) -> None:
    (directory / "keys/token").chmod(mode)
    with pytest.raises(UsageError, match=r"github\.token_file.*by others") as raised:
        read(directory)
    assert raised.value.hint == f"chmod 600 {directory}/keys/token"


def test_faults_of_secrets_are_named(directory: Path) -> None:
    secret = directory / "webhook-secret"
    for content, said in (("", "empty"), ("short", "fewer than 16"), ("x" * 70_000, "too large")):
        secret.write_text(content)
        with pytest.raises(UsageError, match=said) as raised:
            read(directory)
        assert "short" not in raised.value.message
        assert raised.value.hint
    secret.write_bytes(b"\xff" * 32)
    with pytest.raises(UsageError, match="not text"):
        read(directory)
    secret.unlink()
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read(directory)
    os.mkfifo(secret, 0o600)
    with pytest.raises(UsageError, match="no regular file"):
        read(directory)


@pytest.mark.parametrize(
    ("old", "new", "place", "hint"),
    [
        ("[lab]", "[lap]", "lap: there is no such setting", "did you mean lab"),
        ("webhook_secret_file", "webhook_secret", "github.webhook_secret: there is no", "webhook_secret_file"),
        ('name = "redis/redis"\n', "", "repository.0.name: this has to be set", "docs/"),
        ('"redis/redis"\nactors', '"redis"\nactors', "repository.0.name: a repository has a name like", ""),
        ("renovate[bot]", "a b", "repository.0.actors.1: not a login", ""),
        ('permission = "write"', 'permission = "all"', "repository.1.permission", ""),
        ('{"perf" = "all"}', '{"perf" = "some"}', "repository.1.labels.perf", ""),
        ('"../valkey"', '"ext::sh -c reboot"', "repository.1.clone_url: not a git remote", "URL or the path"),
        ('"../valkey"', '"--upload-pack=x"', "repository.1.clone_url: not a git remote", "URL or the path"),
        (
            '"../valkey"',
            '"https://me:hunter2@example.org/x"',
            "repository.1.clone_url: a URL with a password",
            "helper",
        ),
        ('"counted", "timed"', '"guessed"', "repository.1.engines.0", ""),
        ('budget = "8m"', 'budget = "soon"', "defaults.budget: not a duration", "8m"),
        ('"clang,-O2"', '"clang,-O9"', "repository.1.variant", ""),
        ('"https://ci.example.org/hook"', '"javascript:x"', "repository.1.notify.url: not a URL of the web", ""),
        ('"02:30"', '"25:30"', "schedule.0.at", ""),
        ('branch = "unstable"\n', "", "schedule.0: no branch", "against"),
        ('repository = "valkey-io/valkey"', 'repository = "a/b"', "a schedule is for a/b", "[[repository]]"),
        ('"valkey-io/valkey"\nclone', '"Redis/Redis"\nclone', "two entries of the repository redis/redis", "keep one"),
        ('branches = ["main"]\n', "", "watch.0: neither branches nor tags", "branches"),
        ("body_mib = 1", "body_mib = 26", "limits.body_mib", ""),
        ("body_mib = 1", "body_mb = 1", "limits.body_mb: there is no such setting", "body_mib"),
        ("redis://localhost", "redis://:hunter2@localhost", "events.redis: a URL with a password", "redis_url_file"),
        ("redis://localhost", "https://localhost", "events.redis", ""),
        ('token_file = "keys/token"', "app_id = 1", "github: an application needs both", "token_file"),
        ("[lab]", "lab = ", "triggers.toml is not TOML", ""),
    ],
)
def test_faults_name_the_setting(directory: Path, old: str, new: str, place: str, hint: str) -> None:
    raised = fault(directory, old, new)
    assert place in raised.message
    assert hint in raised.hint
    assert "hunter2" not in raised.message


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_trigger_settings(tmp_path / "triggers.toml")


def test_two_remotes_of_one_name_are_refused(directory: Path) -> None:
    watches = [f'[[watch]]\nremote = "{remote}"\nbranches = ["main"]\n' for remote in ("/a/redis", "/b/redis.git")]
    with pytest.raises(UsageError, match="two entries are called watched/redis"):
        read(directory, "".join(watches))
    both = read(directory, watches[0] + watches[1] + 'name = "fork"\n')
    assert [watch.repository for watch in both.watches] == ["watched/redis", "watched/fork"]
    repository = '[[repository]]\nname = "watched/redis"\n'
    with pytest.raises(UsageError, match="two entries are called watched/redis"):
        read(directory, repository + watches[0])


def test_a_label_either_measures_or_accepts(directory: Path) -> None:
    with pytest.raises(UsageError, match="both to measure and to accept"):
        read(directory, '[[repository]]\nname = "a/b"\nlabels = { perf = "all" }\naccept_labels = ["perf"]\n')
    # To GitHub, letter case and the space around a label have no meaning.
    with pytest.raises(UsageError, match="both to measure and to accept"):
        read(directory, '[[repository]]\nname = "a/b"\nlabels = { Perf = "all" }\naccept_labels = [" perf"]\n')
    with pytest.raises(UsageError, match="the labels Perf and perf are one to GitHub"):
        read(directory, '[[repository]]\nname = "a/b"\nlabels = { Perf = "all", perf = "affected" }\n')
