"""The schema; `migrations/` brings a database to it. Sub-documents are JSON in text columns."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# The newest revision in migrations/versions; a test holds the two together.
REVISION = "0004"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

build = Table(
    "build",
    metadata,
    Column("build", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("commit", String),
    Column("version", String, nullable=False),
    Column("build_id", String, nullable=False),
    Column("flags", Text, nullable=False),
    Column("compiler", Text, nullable=False),
    Column("stripped", Boolean, nullable=False),
    Column("variant", String, nullable=False, server_default=""),
    Column("allocator", String, nullable=False, server_default=""),
)

platform = Table(
    "platform",
    metadata,
    Column("fingerprint", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("cpu", String, nullable=False),
    Column("cores", Integer, nullable=False),
    Column("kernel", String, nullable=False),
)

# A comparison, or a run, which has no base. `number` is the order of recording. The JSON columns hold what the
# document said at that time; `build` and `platform` hold what was said last.
comparison = Table(
    "comparison",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("schema", String, nullable=False),
    Column("created", String, nullable=False),
    Column("command_line", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("base_build", ForeignKey("build.build")),
    Column("head_build", ForeignKey("build.build"), nullable=False),
    Column("platform_fingerprint", ForeignKey("platform.fingerprint"), nullable=False),
    Column("base", Text),
    Column("head", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("skipped", Text, nullable=False, server_default="[]"),
    CheckConstraint("kind IN ('compare', 'run')", name="kind"),
    CheckConstraint("state IN ('running', 'done', 'interrupted', 'failed')", name="state"),
    Index(None, "base_build"),
    Index(None, "head_build"),
)

# `seed` is text: it may use all 64 bits, which SQLite's signed integers do not hold.
trial = Table(
    "trial",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("comparison_id", ForeignKey("comparison.id", ondelete="CASCADE"), nullable=False),
    Column("case", String, nullable=False),
    Column("side", String, nullable=False),
    Column("engine", String, nullable=False),
    Column("block", Integer, nullable=False),
    Column("seed", String, nullable=False),
    Column("state", String, nullable=False),
    Column("failure", Text),
    Column("log", String),
    Column("valid", Boolean),
    Column("validity", Text),
    Column("profile", String),
    Column("seconds", Float, nullable=False),
    CheckConstraint("state IN ('done', 'failed')", name="state"),
    UniqueConstraint("comparison_id", "case", "side", "engine", "block"),
    Index(None, "case", "engine"),
)

metric = Table(
    "metric",
    metadata,
    Column("trial_id", ForeignKey("trial.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", Float, nullable=False),
)

# `document` holds a run's case; a comparison's case is in the columns, `verdict` and `finding`.
case_result = Table(
    "case_result",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("comparison_id", ForeignKey("comparison.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("case", String, nullable=False),
    Column("commands", Text, nullable=False),
    Column("group", String, nullable=False),
    Column("topology", String, nullable=False),
    Column("verdict", String),
    Column("confirmed", Boolean),
    Column("valid", Boolean, nullable=False),
    Column("validity", Text, nullable=False),
    Column("failure", Text),
    Column("document", Text),
    UniqueConstraint("comparison_id", "case"),
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
    Column("function", String),
    Column("document", Text, nullable=False),
    Index(None, "function"),
)

# How much the starts of one and the same build differed, from comparisons of a build with itself: as a variance of log
# ratios with its degrees of freedom.
start_spread = Table(
    "start_spread",
    metadata,
    Column("comparison_id", ForeignKey("comparison.id", ondelete="CASCADE"), primary_key=True),
    Column("case", String, primary_key=True),
    Column("metric", String, primary_key=True),
    Column("platform_fingerprint", ForeignKey("platform.fingerprint"), nullable=False),
    Column("variance", Float, nullable=False),
    Column("degrees", Float, nullable=False),
    Index("ix_start_spread_platform_fingerprint_metric", "platform_fingerprint", "metric"),
)
