"""The schema. Sub-documents are JSON in text columns.

`number` and integer `id` columns hold the order of recording. Ids of requests, jobs and series are text.
"""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Raised with each change of the tables: a store of another revision is refused.
REVISION = 4

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Compared byte by byte in both databases, so that an index finds the beginning of an id.
ID = String().with_variant(String(collation="C"), "postgresql")

# One row: the revision of these tables, which the program that created them had.
store_revision = Table("store_revision", metadata, Column("revision", Integer, primary_key=True, autoincrement=False))

# A commit; `author` is a name without an address.
revision = Table(
    "revision",
    metadata,
    Column("repository", String, primary_key=True),
    Column("commit", ID, primary_key=True),
    Column("time", String, nullable=False),
    Column("subject", Text, nullable=False),
    Column("author", Text, nullable=False),
    Index(None, "commit"),
)

revision_parent = Table(
    "revision_parent",
    metadata,
    Column("repository", String, primary_key=True),
    Column("commit", ID, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("parent", String, nullable=False),
    ForeignKeyConstraint(["repository", "commit"], ["revision.repository", "revision.commit"], ondelete="CASCADE"),
    Index(None, "repository", "parent"),
)

# The artifact of a build; `build` is the digest of its specification. `revision_build` has the commits that it is of.
build = Table(
    "build",
    metadata,
    Column("build", String, primary_key=True),
    Column("version", String, nullable=False),
    Column("build_id", String, nullable=False),
    Column("flags", Text, nullable=False),
    Column("compiler", Text, nullable=False),
    Column("stripped", Boolean, nullable=False),
    Column("variant", String, nullable=False),
    Column("allocator", String, nullable=False),
    Column("architecture", String, nullable=False),
    Column("libc", String, nullable=False),
    Column("source_root", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("path", Text),
    Column("image", String, nullable=False),
    Index(None, "image"),
)

revision_build = Table(
    "revision_build",
    metadata,
    Column("repository", String, primary_key=True),
    Column("commit", ID, primary_key=True),
    Column("build", ForeignKey("build.build", ondelete="CASCADE"), primary_key=True),
    ForeignKeyConstraint(["repository", "commit"], ["revision.repository", "revision.commit"], ondelete="CASCADE"),
    Index(None, "build"),
)

platform = Table(
    "platform",
    metadata,
    Column("fingerprint", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("cpu", String, nullable=False),
    Column("cores", Integer, nullable=False),
)

# The facts of a platform, a row for each state: a new kernel adds a row. `digest` is that of kernel and facts.
platform_facts = Table(
    "platform_facts",
    metadata,
    Column("fingerprint", ForeignKey("platform.fingerprint", ondelete="CASCADE"), primary_key=True),
    Column("digest", String, primary_key=True),
    Column("kernel", String, nullable=False),
    Column("facts", Text, nullable=False),
    Column("first_seen", String, nullable=False),
)

# A comparison, run, sweep or check as it was asked for, in `document`. `platform` names a fleet's platform, empty for
# this machine; `reason` states why the request failed, was superseded or waits. What it means on its platform is null
# until its servers are built: `resolved`, with its digest, its platform and the variants of its builds by side.
request = Table(
    "request",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", ID, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("created", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("priority", String, nullable=False),
    Column("topic", String, nullable=False),
    Column("state", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("cancelled", Boolean, nullable=False),
    Column("submitted", Float, nullable=False),
    Column("ended", Float),
    Column("document", Text, nullable=False),
    Column("digest", String),
    Column("platform_fingerprint", ForeignKey("platform.fingerprint")),
    Column("variants", Text),
    Column("resolved", Text),
    CheckConstraint("kind IN ('compare', 'run', 'snapshot', 'check')", name="kind"),
    CheckConstraint(
        "state IN ('waiting', 'running', 'done', 'interrupted', 'failed', 'cancelled', 'superseded')", name="state"
    ),
    Index(None, "state"),
    Index(None, "topic"),
    Index(None, "digest"),
)

# `failure` holds the event without its details, which are the blob `log`; `finished` holds the event. `per_second` is
# the equal rate of its trials.
job = Table(
    "job",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("request_id", ForeignKey("request.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String, nullable=False),
    Column("case", String),
    Column("engine", String),
    Column("per_second", Integer),
    Column("document", Text, nullable=False),
    Column("failure", Text),
    Column("log", String),
    Column("finished", Text),
    CheckConstraint("kind IN ('build', 'trials', 'load')", name="kind"),
    Index(None, "request_id"),
)

# `zerolap` is the version of the program that measured, as the measurement states it; `recorded_by` of the one that
# wrote the row. `facts` is the digest in `platform_facts` of the state that the machine was in, `executed_code` is
# equal for builds that execute the same.
trial = Table(
    "trial",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("request_id", ForeignKey("request.id", ondelete="CASCADE"), nullable=False),
    Column("side", String, nullable=False),
    Column("block", Integer, nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("validity", Text, nullable=False),
    Column("amounts", Text, nullable=False),
    Column("graph", String),
    Column("graph_alone", String),
    Column("graph_tick", String),
    Column("call_counts", String),
    Column("timeline", String),
    Column("stacks", String),
    Column("executed", String),
    Column("executed_code", String),
    Column("traced", String),
    Column("record", String),
    Column("allocations", String),
    Column("placement", String),
    Column("seconds", Float, nullable=False),
    Column("method", Integer, nullable=False),
    Column("zerolap", String, nullable=False),
    Column("recorded_by", String, nullable=False),
    Column("began", String, nullable=False),
    Column("facts", String, nullable=False),
    Column("instrument", String, nullable=False),
    Column("load_host", String, nullable=False),
    Column("start_position", Integer),
    UniqueConstraint("job_id", "side", "block"),
    Index(None, "request_id"),
    Index(None, "executed_code"),
)
# Few trials have stacks: the newest results with any are found without reading the others.
Index(
    "ix_trial_sampled",
    trial.c.request_id,
    sqlite_where=trial.c.stacks.is_not(None),
    postgresql_where=trial.c.stacks.is_not(None),
)
# Values over time leave out those of invalid trials, without reading the others.
Index("ix_trial_invalid", trial.c.id, sqlite_where=~trial.c.valid, postgresql_where=~trial.c.valid)

# The fields of a SeriesKey; `config` is JSON.
series = Table(
    "series",
    metadata,
    Column("id", String, primary_key=True),
    Column("case", String, nullable=False),
    Column("case_digest", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("engine", String, nullable=False),
    Column("topology", String, nullable=False),
    Column("config", Text, nullable=False),
    Column("variant", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("method", Integer, nullable=False),
    Column("placed", Boolean, nullable=False),
    Column("resident", Integer, nullable=False),
    Column("load_host", String, nullable=False),
    Column("compiler", Text, nullable=False),
    Column("libc", String, nullable=False),
    Column("valgrind", String, nullable=False),
    Column("windows", String, nullable=False),
    Index(None, "case", "metric"),
)

# A value belongs to no series if the rate of requests was chosen for its comparison.
metric = Table(
    "metric",
    metadata,
    Column("trial_id", ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", Float, nullable=False),
    Column("series_id", ForeignKey("series.id")),
    # All that a series over time reads.
    Index(None, "series_id", "trial_id", "value"),
)

# The document of a comparison or a run, without its cases; a run has no base. The other columns repeat parts of it.
# That of a sweep of snapshots is in short, without its builds; `blob` is the digest of the whole.
document = Table(
    "document",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", ID, ForeignKey("request.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("base_build", String),
    Column("head_build", String),
    Column("platform_fingerprint", ForeignKey("platform.fingerprint"), nullable=False),
    Column("document", Text, nullable=False),
    Column("blob", String),
    CheckConstraint("kind IN ('compare', 'run', 'snapshot')", name="kind"),
    Index(None, "base_build"),
    Index(None, "head_build"),
    Index(None, "platform_fingerprint"),
)

# A case of a comparison or run; `document` is the whole of it, `digest` that of the document. The other columns, and
# the tables `verdict` and `finding`, repeat parts of it for queries over many cases.
case_result = Table(
    "case_result",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("document.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("case", String, nullable=False),
    Column("group", String, nullable=False),
    Column("topology", String, nullable=False),
    Column("verdict", String),
    Column("deciding", String),
    Column("confirmed", Boolean),
    Column("valid", Boolean, nullable=False),
    Column("digest", String, nullable=False),
    Column("document", Text, nullable=False),
    UniqueConstraint("document_id", "case"),
)

verdict = Table(
    "verdict",
    metadata,
    Column("case_result_id", ForeignKey("case_result.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("metric", String, nullable=False),
    Column("engine", String, nullable=False),
    Column("verdict", String, nullable=False),
    Column("base", Float, nullable=False),
    Column("head", Float, nullable=False),
    Column("change", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("q", Float),
    Column("samples", Integer, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("min_effect", Float, nullable=False),
    Column("detectable", Float, nullable=False),
    Index(None, "metric", "verdict"),
)

finding = Table(
    "finding",
    metadata,
    Column("case_result_id", ForeignKey("case_result.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("rank", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("function", Text),
    Index(None, "function"),
)

# Few documents are of sweeps, which are listed apart.
Index(
    "ix_document_sweep",
    document.c.number,
    sqlite_where=document.c.blob.is_not(None),
    postgresql_where=document.c.blob.is_not(None),
)

# How much starts of the same build differed, from comparisons of a build with itself: a variance of log ratios with its
# degrees of freedom. `circumstances` are what comparable starts have in common.
start_spread = Table(
    "start_spread",
    metadata,
    Column("document_id", ForeignKey("document.id", ondelete="CASCADE"), primary_key=True),
    Column("case", String, primary_key=True),
    Column("metric", String, primary_key=True),
    Column("platform_fingerprint", ForeignKey("platform.fingerprint"), nullable=False),
    Column("circumstances", String, nullable=False),
    Column("variance", Float, nullable=False),
    Column("degrees", Float, nullable=False),
    Index("ix_start_spread_platform_fingerprint_metric", "platform_fingerprint", "metric"),
)

# What each start of a comparison says about a timed metric on which there is a verdict: the logarithm of head over
# base, or over the build of a third server, the `anchor`, before single starts are bounded. `block` is the number of
# the start's trials.
start_ratio = Table(
    "start_ratio",
    metadata,
    Column("document_id", ForeignKey("document.id", ondelete="CASCADE"), primary_key=True),
    Column("case", String, primary_key=True),
    Column("metric", String, primary_key=True),
    Column("block", Integer, primary_key=True, autoincrement=False),
    Column("anchor", String, primary_key=True),
    Column("engine", String, nullable=False),
    Column("log_ratio", Float, nullable=False),
)

# Why a counted metric changed from one build to another, by both call graphs: finding it takes longer than reading it.
# `explained_by` is the revision of what has found it, `reasons` a JSON list of sentences.
explained_step = Table(
    "explained_step",
    metadata,
    Column("base_build", String, primary_key=True),
    Column("head_build", String, primary_key=True),
    Column("base_graph", String, primary_key=True),
    Column("head_graph", String, primary_key=True),
    Column("metric", String, primary_key=True),
    Column("explained_by", String, nullable=False),
    Column("reasons", Text, nullable=False),
)

# Where the instructions of a counted case go and which are wasted, by the digest of its call graph: finding it takes
# longer than reading it. `found_by` is the revision of what has found it, `has_build` whether it could read the build.
kept_work = Table(
    "kept_work",
    metadata,
    Column("graph", String, primary_key=True),
    Column("found_by", String, nullable=False),
    Column("has_build", Boolean, nullable=False),
    Column("document", Text, nullable=False),
)

# A change in the history of a case that its team accepts: what its metric lost there belongs to no open regression.
# `metric` is empty for all metrics, `case` for all cases.
accepted_change = Table(
    "accepted_change",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("repository", String, nullable=False),
    Column("commit", String, nullable=False),
    Column("case", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created", String, nullable=False),
    UniqueConstraint("repository", "commit", "case", "metric"),
)

# A series that others have measured, as it was read: `source` names the file, `labels` is JSON.
imported_series = Table(
    "imported_series",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("source", String, nullable=False),
    Column("case", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("labels", Text, nullable=False),
    UniqueConstraint("source", "case", "metric", "labels"),
)

# A point of it: `version` is the commit, tag or version that it is of, empty where only its time is known.
imported_point = Table(
    "imported_point",
    metadata,
    Column("series", ForeignKey("imported_series.number", ondelete="CASCADE"), primary_key=True),
    Column("time", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("value", Float, nullable=False),
)

# A history as it was last judged, for pages: judging takes the repository and more than a moment. `config` is JSON,
# its keys in order; `platform` is a fingerprint; `platform_events` and `notes` are JSON lists.
kept_history = Table(
    "kept_history",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("repository", String, nullable=False),
    Column("range", String, nullable=False),
    Column("variant", String, nullable=False),
    Column("config", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("platform_name", String, nullable=False),
    Column("created", String, nullable=False),
    Column("platform_events", Text, nullable=False),
    Column("notes", Text, nullable=False),
    UniqueConstraint("repository", "range", "variant", "config", "platform"),
)

# A commit of its range. `tags` is a JSON list of those of releases, `pre_release` the tag of a release candidate.
# `node` is equal for commits of the same program. `measured` counts the series with a point there, `changed` those of
# them that execute something else than at the point before. `groups` is a JSON list of what it did to each group of
# cases.
kept_commit = Table(
    "kept_commit",
    metadata,
    Column("history", ForeignKey("kept_history.number", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("commit", ID, nullable=False),
    Column("time", String, nullable=False),
    Column("subject", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("pre_release", Text, nullable=False),
    Column("node", Integer),
    Column("failure", Text),
    Column("measured", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("groups", Text, nullable=False),
    Index(None, "commit"),
)

# A series of it. `points` and `versions` are JSON: all its points by columns, and those at releases and both ends.
# `change` is that from the first point to the last with bounds; `ledger` and `labels` are JSON, `commands` a JSON list.
kept_series = Table(
    "kept_series",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("history", ForeignKey("kept_history.number", ondelete="CASCADE"), nullable=False),
    Column("case", String, nullable=False),
    Column("group", String, nullable=False),
    Column("commands", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("engine", String, nullable=False),
    Column("topology", String, nullable=False),
    Column("better", String),
    Column("is_imported", Boolean, nullable=False),
    Column("source", String, nullable=False),
    Column("labels", String, nullable=False),
    Column("point_count", Integer, nullable=False),
    Column("change", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("ledger", Text),
    # Before the points, so that SQLite need not read them to get there.
    Column("versions", Text, nullable=False),
    Column("points", Text, nullable=False),
    # Its name by the convention is longer than PostgreSQL takes.
    UniqueConstraint(
        *("history", "case", "metric", "engine", "topology", "source", "labels"), name="uq_kept_series_identity"
    ),
    # All that a list of series reads.
    Index("ix_kept_series_names", "case", "metric", "history", "group", "commands"),
)

# A change of it, between the commits at the positions `after` and `position`; `commit` is the later one. `is_open`: it
# is a confirmed change for the worse that is neither accepted nor made good. `reasons` is a JSON list.
kept_change = Table(
    "kept_change",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("series", ForeignKey("kept_series.number", ondelete="CASCADE"), nullable=False),
    Column("history", ForeignKey("kept_history.number", ondelete="CASCADE"), nullable=False),
    Column("id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("after", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("commit", ID, nullable=False),
    Column("change", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("p", Float),
    Column("confirmed", Boolean, nullable=False),
    Column("is_worse", Boolean, nullable=False),
    Column("is_opposed", Boolean, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("comparison", String),
    Column("accepted", Text),
    Column("reasons", Text, nullable=False),
    CheckConstraint("kind IN ('step', 'drift')", name="kind"),
    Index(None, "series"),
    Index(None, "history", "position"),
    Index(None, "is_open", "change"),
    Index(None, "commit"),
)

# The platforms that a conductor serves; `document` is what an agent of it must be. `builder` is the platform of the
# agents that build for it.
fleet_platform = Table(
    "fleet_platform",
    metadata,
    Column("name", String, primary_key=True),
    Column("builder", String, nullable=False),
    Column("document", Text, nullable=False),
)

# The agents that have reported to a conductor; `document` is their last report. Times are seconds since the epoch, here
# and below.
agent = Table(
    "agent",
    metadata,
    Column("name", String, primary_key=True),
    Column("lab", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("document", Text, nullable=False),
    Column("seen", Float, nullable=False),
    Column("draining", Boolean, nullable=False),
    Column("refusal", Text),
    Index(None, "platform"),
)

# A build as the agents of the platform `builder` have made it, which are trusted for platforms with that builder only:
# packed, null where it is on the conductor's machine alone, the commands and settings that it knows, and its record.
artifact = Table(
    "artifact",
    metadata,
    Column("build", ForeignKey("build.build", ondelete="CASCADE"), primary_key=True),
    Column("builder", String, primary_key=True),
    Column("blob", String),
    Column("abilities", Text, nullable=False),
    Column("document", Text, nullable=False),
)

# A job given to the agents of a platform, until one has ended it. `delivery` is the delivery by which `agent` holds it;
# `publications` counts how often it was given to the bus, `starts` how often an agent began it.
attempt = Table(
    "attempt",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("request_id", ForeignKey("request.id", ondelete="CASCADE"), nullable=False),
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("platform", String, nullable=False),
    Column("state", String, nullable=False),
    Column("agent", String),
    Column("delivery", Integer, nullable=False),
    Column("publications", Integer, nullable=False),
    Column("starts", Integer, nullable=False),
    Column("created", Float, nullable=False),
    Column("claimed", Float),
    Column("ended", Float),
    Column("reason", Text, nullable=False),
    CheckConstraint("state IN ('ready', 'claimed', 'done', 'failed', 'given up', 'cancelled')", name="state"),
    Index(None, "request_id"),
    Index(None, "job_id"),
    Index(None, "state"),
)

# One row, from the first conductor on: `epoch` counts how often a conductor has taken the lock of the store. What a
# conductor of an earlier epoch writes is refused.
conductor = Table(
    "conductor",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("epoch", Integer, nullable=False),
    CheckConstraint("id = 1", name="id"),
)

# Webhook deliveries that were accepted, by the id that the sender gave them; `digest` is that of the body, so that a
# body is not accepted again under another id.
delivery = Table(
    "delivery",
    metadata,
    Column("id", String, primary_key=True),
    Column("received", Float, nullable=False),
    Column("repository", String, nullable=False),
    Column("digest", String, nullable=False, unique=True),
    Index(None, "received"),
)

# What is to be done without being asked on the command line. `subject` is the pull request, branch or tag that it is
# about, `document` the whole of it, `requests` a JSON list of the ids of what it led to. `tries` counts how often work
# on it has begun without an end, as where the process was killed.
trigger = Table(
    "trigger",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("delivery_id", ForeignKey("delivery.id", ondelete="SET NULL"), unique=True),
    Column("repository", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("actor", String),
    Column("document", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("state", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("requests", Text, nullable=False),
    CheckConstraint("state IN ('waiting', 'working', 'done', 'refused', 'failed')", name="state"),
    Index(None, "state"),
    Index(None, "subject"),
    Index(None, "repository"),
    Index(None, "kind", "created"),
    Index(None, "actor", "created"),
)

# Changes that a person has accepted as they are: at a head, of one case, or of all where `case` is empty.
acknowledgement = Table(
    "acknowledgement",
    metadata,
    Column("subject", String, primary_key=True),
    Column("head", String, primary_key=True),
    Column("case", String, primary_key=True),
    Column("repository", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created", Float, nullable=False),
)

# Tokens of the HTTP API. A token is 256 random bits, so that its SHA-256, `digest`, says nothing about it. `scopes` is
# a JSON list.
api_token = Table(
    "api_token",
    metadata,
    Column("name", String, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    Column("actor", String, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("last_used", Float),
)

# Who has signed in to the pages, until `expires`. A session is 256 random bits, of which `digest` is the SHA-256. It is
# that of a person at GitHub, whose `login` it has, or that of the token of the HTTP API that has the digest `token`;
# the other is empty.
session = Table(
    "session",
    metadata,
    Column("digest", String, primary_key=True),
    Column("login", String, nullable=False),
    Column("token", String, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Index(None, "expires"),
)

# Tokens by which an agent joins the fleet, each good for once and until `expires`; `digest` is the SHA-256 of 256
# random bits. `replaces` states that the agent belongs to the fleet already, and gets another key.
join_token = Table(
    "join_token",
    metadata,
    Column("digest", String, primary_key=True),
    Column("agent", String, nullable=False),
    Column("lab", String, nullable=False),
    Column("platform", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("replaces", Boolean, nullable=False),
    Column("expires", Float, nullable=False),
)

# The commits that the branches and tags of watched remotes had when they were last asked.
watched_ref = Table(
    "watched_ref",
    metadata,
    Column("remote", String, primary_key=True),
    Column("ref", String, primary_key=True),
    Column("commit", String, nullable=False),
    Column("updated", Float, nullable=False),
)

# What the lab has written elsewhere about a subject, to be updated in place. `key` distinguishes several of a kind,
# such as the commits of checks. `digest` is that of what was written last; nothing is written before `not_before`.
# `updates` counts the writings in a row that were not final, `failures` those in a row that have failed.
post = Table(
    "post",
    metadata,
    Column("subject", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("external_id", String),
    Column("digest", String, nullable=False),
    Column("posted", Float),
    Column("not_before", Float, nullable=False),
    Column("updates", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    CheckConstraint("kind IN ('comment', 'check', 'status', 'issue')", name="kind"),
)
