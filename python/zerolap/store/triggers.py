"""What causes work by itself and what is written about it: deliveries, triggers, acknowledgements, tokens, posts."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from pydantic import TypeAdapter
from sqlalchemy import Connection, Row, case, delete, func, or_, select, update

from zerolap.records import Request, read_stored
from zerolap.store import recorded_requests as requests
from zerolap.store.database import Database, insert_new, insert_of
from zerolap.store.tables import acknowledgement, api_token, delivery, post, trigger, watched_ref

TriggerState: TypeAlias = Literal["waiting", "working", "done", "refused", "failed"]
PostKind: TypeAlias = Literal["comment", "check", "status", "issue"]

DELIVERIES_KEPT_SECONDS: Final = 30 * 86_400.0

_REQUEST_IDS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True)
class StoredDelivery:
    """A webhook delivery that was accepted; `digest` is the SHA-256 of its body. Times are seconds since the epoch."""

    id: str
    repository: str
    digest: str
    received: float = field(default_factory=time.time)


@dataclass(frozen=True)
class StoredTrigger:
    """A trigger: `document` is the whole of it as JSON, `subject` the pull request, branch or tag that it is about.

    `actor` is who caused it, in lower case. `request_ids` is the JSON list of the requests that it led to, as it is
    recorded; `reason` states why it was refused or has failed. `tries` is how often work on it has begun without an
    end.
    """

    id: str
    repository: str
    subject: str
    kind: str
    document: str
    actor: str | None = None
    delivery: str | None = None
    created: float = field(default_factory=time.time)
    state: TriggerState = "waiting"
    reason: str = ""
    request_ids: str = "[]"
    tries: int = 0

    @property
    def requests(self) -> tuple[str, ...]:
        """The ids of the requests that it led to; raises `UnreadableRecord`."""
        return read_request_ids(self.request_ids, self.id)

    def ended(self, state: TriggerState, reason: str, requests: Sequence[str]) -> "StoredTrigger":
        """Return the trigger as it is after its end, with the ids of the requests that it led to."""
        return replace(self, state=state, reason=reason, request_ids=json.dumps(list(requests)))


@dataclass(frozen=True)
class StoredAcknowledgement:
    """A person accepts the changes of a subject at a head as they are: of one case, or of all if `case` is none."""

    subject: str
    repository: str
    head: str
    case: str | None
    actor: str
    reason: str
    created: float = field(default_factory=time.time)


@dataclass(frozen=True)
class ApiToken:
    """A token of the HTTP API, known by the SHA-256 of it; `actor` is who has it, `scopes` what it permits."""

    name: str
    digest: str
    actor: str
    scopes: tuple[str, ...]
    created: float = field(default_factory=time.time)
    last_used: float | None = None


@dataclass(frozen=True)
class Post:
    """Something that was written elsewhere: `external_id` is its id there, none before it was first written.

    `digest` is that of what was written last. Nothing may be written before `not_before`. `updates` counts the writings
    in a row that were not final, `failures` those in a row that have failed.
    """

    subject: str
    kind: PostKind
    key: str = ""
    external_id: str | None = None
    digest: str = ""
    posted: float | None = None
    not_before: float = 0.0
    updates: int = 0
    failures: int = 0


@dataclass(frozen=True)
class TriggerBacklog:
    """The number of triggers that wait, and when the oldest was recorded; the last that failed, and when it was."""

    waiting: int
    oldest_waiting: float | None
    last_failed: str | None
    last_failed_created: float | None


class TriggerRecords:
    """The tables of triggers; its methods may be called from any thread, and raise as those of `Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Deliveries and triggers.

    def knows(self, identity: str, digest: str) -> bool:
        """Whether a delivery of that id, or of a body of that digest, was accepted."""
        statement = select(delivery.c.id).where(or_(delivery.c.id == identity, delivery.c.digest == digest))
        with self._database.read_transaction() as connection:
            return connection.execute(statement.limit(1)).first() is not None

    def add(self, new: StoredTrigger, of_delivery: StoredDelivery | None = None) -> bool:
        """Record a trigger together with the delivery that it came with.

        Returns false, and records nothing, if the trigger, the delivery or its body is recorded already. Deliveries
        are forgotten after 30 days.
        """
        with self._database.write_transaction() as connection:
            return _add(connection, new, of_delivery)

    def with_id(self, identity: str) -> StoredTrigger | None:
        """Return the trigger with that id."""
        with self._database.read_transaction() as connection:
            row = connection.execute(select(trigger).where(trigger.c.id == identity)).first()
        return None if row is None else _trigger(row)

    def in_state(self, state: TriggerState) -> list[StoredTrigger]:
        """Return the triggers in a state, in the order of recording."""
        statement = select(trigger).where(trigger.c.state == state).order_by(trigger.c.number)
        with self._database.read_transaction() as connection:
            return [_trigger(row) for row in connection.execute(statement)]

    def begin(self, identity: str) -> int:
        """Count that work on a trigger begins, and return how often it has begun without an end."""
        counted = update(trigger).where(trigger.c.id == identity).values(tries=trigger.c.tries + 1)
        with self._database.write_transaction() as connection:
            return int(connection.execute(counted.returning(trigger.c.tries)).scalar_one())

    def put_back(self, identity: str) -> None:
        """Record that work on a trigger has stopped in order, and begins again later."""
        with self._database.write_transaction() as connection:
            connection.execute(update(trigger).where(trigger.c.id == identity).values(tries=0))

    def end(self, identity: str, state: TriggerState, reason: str = "", asked: Sequence[Request] = ()) -> bool:
        """End a trigger that waits, and record the requests that it has led to, in one transaction.

        Returns false, and changes nothing, if it has ended already.
        """
        ids = json.dumps([request.id for request in asked])
        values = {"state": state, "reason": _storable(reason), "requests": ids, "tries": 0}
        is_meant = (trigger.c.id == identity, trigger.c.state == "waiting")
        with self._database.write_transaction() as connection:
            if connection.execute(update(trigger).where(*is_meant).values(**values)).rowcount == 0:
                return False
            for request in asked:
                requests.submit(connection, request)
        return True

    def of_subject(
        self, subject: str, kinds: Sequence[str] = (), limit: int = 100, *, states: Sequence[TriggerState] = ()
    ) -> list[StoredTrigger]:
        """Return the newest triggers of a subject, of these kinds and in these states or of all, the newest first."""
        statement = select(trigger).where(trigger.c.subject == subject).order_by(trigger.c.number.desc())
        if kinds:
            statement = statement.where(trigger.c.kind.in_(list(kinds)))
        if states:
            statement = statement.where(trigger.c.state.in_(list(states)))
        with self._database.read_transaction() as connection:
            return [_trigger(row) for row in connection.execute(statement.limit(limit))]

    def listed(
        self,
        limit: int,
        *,
        before: str | None = None,
        state: TriggerState | None = None,
        repository: str | None = None,
        pull_request: int | None = None,
        identity: str | None = None,
    ) -> list[StoredTrigger]:
        """Return the newest triggers, those in a state, of a repository, a pull request, an id where these are given.

        The newest is first. `pull_request` is a number.

        With `before`, only those older than the one with that id are returned.
        """
        statement = select(trigger).order_by(trigger.c.number.desc()).limit(limit)
        if before is not None:
            newer = select(trigger.c.number).where(trigger.c.id == before).scalar_subquery()
            statement = statement.where(trigger.c.number < newer)
        if state is not None:
            statement = statement.where(trigger.c.state == state)
        if repository is not None:
            # Names of repositories at GitHub have no letter case.
            statement = statement.where(func.lower(trigger.c.repository) == repository.lower())
        if pull_request is not None:
            # As branches, whose names may hold anything, have an @ before them.
            is_branch = trigger.c.subject.contains("@")
            statement = statement.where(trigger.c.subject.endswith(f"#{pull_request}"), ~is_branch)
        if identity is not None:
            statement = statement.where(trigger.c.id == identity)
        with self._database.read_transaction() as connection:
            return [_trigger(row) for row in connection.execute(statement)]

    def counts(self) -> dict[TriggerState, int]:
        """Return how many triggers there are, by their state."""
        statement = select(trigger.c.state, func.count().label("triggers")).group_by(trigger.c.state)
        with self._database.read_transaction() as connection:
            return {row.state: row.triggers for row in connection.execute(statement)}

    def repositories(self, limit: int) -> list[str]:
        """Return the repositories of triggers, by name."""
        statement = select(trigger.c.repository).distinct().order_by(trigger.c.repository).limit(limit)
        with self._database.read_transaction() as connection:
            return list(connection.execute(statement).scalars())

    def subjects(self, kind: str, since: float) -> list[str]:
        """Return the subjects of the triggers of a kind that were recorded since a time."""
        statement = select(trigger.c.subject).where(trigger.c.kind == kind, trigger.c.created >= since).distinct()
        with self._database.read_transaction() as connection:
            return sorted(connection.execute(statement).scalars())

    def count_of_actor(self, actor: str, kinds: Sequence[str], since: float) -> int:
        """Return how many triggers of these kinds a person has caused since a time; refused ones count too."""
        statement = select(func.count()).select_from(trigger)
        by_actor = (trigger.c.actor == actor, trigger.c.created >= since, trigger.c.kind.in_(list(kinds)))
        with self._database.read_transaction() as connection:
            return int(connection.execute(statement.where(*by_actor)).scalar_one())

    def backlog(self) -> TriggerBacklog:
        """Return how many triggers wait, and which has failed last."""
        waiting = select(func.count(), func.min(trigger.c.created)).where(trigger.c.state == "waiting")
        failed = select(trigger.c.id, trigger.c.created).where(trigger.c.state == "failed")
        with self._database.read_transaction() as connection:
            number, oldest = connection.execute(waiting).one()
            last = connection.execute(failed.order_by(trigger.c.number.desc()).limit(1)).first()
        identity, created = (None, None) if last is None else last
        return TriggerBacklog(number, oldest, identity, created)

    # Acknowledgements.

    def acknowledge(self, new: StoredAcknowledgement) -> None:
        """Record an acknowledgement; one of the same subject, head and case is replaced."""
        key = {"subject": new.subject, "head": new.head, "case": new.case or ""}
        values = {
            "repository": new.repository,
            "actor": new.actor,
            "reason": _storable(new.reason),
            "created": new.created,
        }
        self._put(acknowledgement, key, values)

    def acknowledgements(self, subject: str, head: str) -> list[StoredAcknowledgement]:
        """Return what was accepted of a subject at a head, in the order of time."""
        is_meant = (acknowledgement.c.subject == subject, acknowledgement.c.head == head)
        statement = select(acknowledgement).where(*is_meant).order_by(acknowledgement.c.created)
        with self._database.read_transaction() as connection:
            rows = [row._mapping for row in connection.execute(statement)]
        return [StoredAcknowledgement(**{**row, "case": row["case"] or None}) for row in rows]

    # Tokens of the API.

    def add_token(self, new: ApiToken) -> bool:
        """Record a token; returns false, and records nothing, if there is one of that name."""
        values = asdict(new) | {"scopes": json.dumps(list(new.scopes))}
        with self._database.write_transaction() as connection:
            statement = insert_new(connection, api_token).values(**values).returning(api_token.c.name)
            return connection.execute(statement).first() is not None

    def token(self, digest: str) -> ApiToken | None:
        """Return the token with that digest."""
        with self._database.read_transaction() as connection:
            row = connection.execute(select(api_token).where(api_token.c.digest == digest)).first()
        return None if row is None else _token(row)

    def tokens(self) -> list[ApiToken]:
        """Return all tokens, by name."""
        with self._database.read_transaction() as connection:
            return [_token(row) for row in connection.execute(select(api_token).order_by(api_token.c.name))]

    def used_token(self, name: str, when: float) -> None:
        """Record that a token was used."""
        with self._database.write_transaction(is_change=False) as connection:
            connection.execute(update(api_token).where(api_token.c.name == name).values(last_used=when))

    def remove_token(self, name: str) -> bool:
        """Remove a token; returns whether there was one of that name."""
        with self._database.write_transaction() as connection:
            return connection.execute(delete(api_token).where(api_token.c.name == name)).rowcount > 0

    # Watched remotes.

    def watched(self, remote: str) -> dict[str, str]:
        """Return the commits that the refs of a remote had when it was last asked."""
        statement = select(watched_ref.c.ref, watched_ref.c.commit).where(watched_ref.c.remote == remote)
        with self._database.read_transaction() as connection:
            return {row.ref: row.commit for row in connection.execute(statement)}

    def saw(self, remote: str, commits: Mapping[str, str], triggers: Sequence[StoredTrigger] = ()) -> None:
        """Record the commits of refs of a remote, and in the same transaction the triggers that follow from them."""
        with self._database.write_transaction() as connection:
            for new in triggers:
                _add(connection, new, None)
            statement = insert_of(connection, watched_ref)
            changed = {name: statement.excluded[name] for name in ("commit", "updated")}
            rows = [
                {"remote": remote, "ref": ref, "commit": commit, "updated": time.time()}
                for ref, commit in sorted(commits.items())
            ]
            if rows:
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["remote", "ref"], set_=changed), rows
                )

    def lost_refs(self, remote: str, refs: Sequence[str]) -> None:
        """Forget refs that a remote does not have any more."""
        with self._database.write_transaction() as connection:
            for ref in refs:
                is_meant = (watched_ref.c.remote == remote, watched_ref.c.ref == ref)
                connection.execute(delete(watched_ref).where(*is_meant))

    # Posts.

    def post(self, subject: str, kind: PostKind, key: str = "") -> Post | None:
        """Return what was written of that kind about a subject."""
        is_meant = (post.c.subject == subject, post.c.kind == kind, post.c.key == key)
        with self._database.read_transaction() as connection:
            row = connection.execute(select(post).where(*is_meant)).first()
        return None if row is None else Post(**row._mapping)

    def subjects_of_post(self, kind: PostKind, key: str) -> list[str]:
        """Return the subjects about which something of that kind and key was written."""
        statement = select(post.c.subject).where(post.c.kind == kind, post.c.key == key).order_by(post.c.subject)
        with self._database.read_transaction() as connection:
            return list(connection.execute(statement).scalars())

    def posts(self, subject: str) -> list[Post]:
        """Return all that was written about a subject."""
        statement = select(post).where(post.c.subject == subject).order_by(post.c.kind, post.c.key)
        with self._database.read_transaction() as connection:
            return [Post(**row._mapping) for row in connection.execute(statement)]

    def set_post(self, new: Post) -> None:
        """Record what was written, or when something may be written next, instead of what is recorded."""
        values = asdict(new)
        key = {name: values.pop(name) for name in ("subject", "kind", "key")}
        self._put(post, key, values, is_change=False)

    def set_written(self, new: Post, read_digest: str) -> bool:
        """Record what was written in place of the post with `read_digest`; returns whether that is up to date.

        If it was asked for again during the writing, the post stays to be written: only its other fields are recorded.
        """
        values = asdict(new)
        key = {name: values.pop(name) for name in ("subject", "kind", "key")}
        with self._database.write_transaction(is_change=False) as connection:
            statement = insert_of(connection, post).values(**key, **values)
            digest = case((post.c.digest == read_digest, new.digest), else_=post.c.digest)
            statement = statement.on_conflict_do_update(
                index_elements=list(key), set_={**values, "digest": digest}
            ).returning(post.c.digest)
            recorded: str = connection.execute(statement).scalar_one()
        return recorded == new.digest

    def write_again(self, subject: str, kind: PostKind, key: str) -> None:
        """Have something that was written before written again, even if it has not changed or is being written now."""
        is_meant = (post.c.subject == subject, post.c.kind == kind, post.c.key == key)
        # Each time another digest, by which a writing that goes on notices that it was asked for again.
        asked = f"again {secrets.token_hex(8)}"
        with self._database.write_transaction() as connection:
            connection.execute(update(post).where(*is_meant).values(digest=asked))

    def _put(self, table: Any, key: Mapping[str, Any], values: Mapping[str, Any], *, is_change: bool = True) -> None:
        with self._database.write_transaction(is_change=is_change) as connection:
            statement = insert_of(connection, table).values(**key, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=dict(values)))


def _add(connection: Connection, new: StoredTrigger, of_delivery: StoredDelivery | None) -> bool:
    if connection.execute(select(trigger.c.id).where(trigger.c.id == new.id)).first() is not None:
        return False
    if of_delivery is not None:
        oldest = of_delivery.received - DELIVERIES_KEPT_SECONDS
        connection.execute(delete(delivery).where(delivery.c.received < oldest))
        statement = insert_new(connection, delivery).values(**asdict(of_delivery)).returning(delivery.c.id)
        if connection.execute(statement).first() is None:
            return False
    same = ("id", "repository", "subject", "kind", "actor", "document", "created", "state", "tries")
    statement = insert_new(connection, trigger).values(
        **{name: getattr(new, name) for name in same},
        delivery_id=None if of_delivery is None else of_delivery.id,
        reason=_storable(new.reason),
        requests=new.request_ids,
    )
    return connection.execute(statement.returning(trigger.c.id)).first() is not None


def read_request_ids(recorded: str, trigger_id: str) -> tuple[str, ...]:
    """Return the ids in the JSON list of the requests that a trigger led to; raises `UnreadableRecord`."""
    return read_stored(_REQUEST_IDS, recorded, f"the trigger {trigger_id}")


def _trigger(row: Row[Any]) -> StoredTrigger:
    same = ("id", "repository", "subject", "kind", "document", "actor", "created", "state", "reason", "tries")
    columns = {name: getattr(row, name) for name in same}
    return StoredTrigger(**columns, delivery=row.delivery_id, request_ids=row.requests)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(**{**row._mapping, "scopes": tuple(json.loads(row.scopes))})


def _storable(text: str) -> str:
    # PostgreSQL takes no text with this character.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
