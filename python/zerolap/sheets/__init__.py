"""Documents as they are shown, made once: each figure, its unit, its rounding and its sentence."""

from zerolap.sheets.bisect_sheet import bisect_sheet as bisect_sheet
from zerolap.sheets.format import (
    ARROW as ARROW,
    COMMIT_DIGITS as COMMIT_DIGITS,
    ELLIPSIS as ELLIPSIS,
    NO_VALUE as NO_VALUE,
    change as change,
    count as count,
    counted as counted,
    duration as duration,
    interval as interval,
    listing as listing,
    metric_label as metric_label,
    one_line as one_line,
    per_side as per_side,
    percent as percent,
    plain as plain,
    printable as printable,
    probability as probability,
    rough_duration as rough_duration,
    rough_percent as rough_percent,
    share as share,
    shortened as shortened,
    weighting as weighting,
)
from zerolap.sheets.outcome_words import (
    CHANGED as CHANGED,
    PLURALS as PLURALS,
    UNCHANGED as UNCHANGED,
    WORDS as WORDS,
    Word as Word,
    failed_check as failed_check,
    word_counts as word_counts,
)
from zerolap.sheets.sheet import (
    Cell as Cell,
    Column as Column,
    Fact as Fact,
    Mark as Mark,
    Section as Section,
    Sentence as Sentence,
    Sheet as Sheet,
    Stack as Stack,
    Stacks as Stacks,
    Table as Table,
    as_name as as_name,
    name as name,
)
from zerolap.sheets.snapshot_sheet import snapshot_gate_sentence as snapshot_gate_sentence
from zerolap.sheets.sweep_sheet import (
    sweep_headline as sweep_headline,
    sweep_kernel as sweep_kernel,
    sweep_servers as sweep_servers,
    sweep_sheet as sweep_sheet,
    with_sweep_reading as with_sweep_reading,
)
from zerolap.sheets.traced_section import traced_of_comparison as traced_of_comparison, traced_of_run as traced_of_run
