"""The checked engine: what the requests of a case do, sent one by one and at full speed; nothing is timed."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from zerolap.engines.engine import EngineTrial, Place, trials_of
from zerolap.engines.probing import CommandSamples, ProbedCase, probe
from zerolap.records import (
    Case,
    CaseFacts,
    Check,
    CheckedCase,
    CommandFacts,
    Event,
    Measurement,
    TrialsJob,
    Validity,
)


class Checked:
    """Examines a case by one start of its server, and records its facts, which are judged later."""

    def missing(self) -> str | None:
        """Return none: it needs nothing but the load generator."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Examine the case; raises `TrialFailed` if the server, the data set or the load generator fails."""
        with contextlib.closing(trials_of(job, place)) as trials:
            for trial in trials:
                from_seconds = time.monotonic()
                checked = _checked(trial)
                yield trial.done(
                    Measurement(
                        metrics={},
                        validity=Validity.of([]),
                        record=place.blobs.put(checked.model_dump_json().encode()),
                        seconds=time.monotonic() - from_seconds,
                    )
                )


def _checked(trial: EngineTrial) -> CheckedCase:
    case, probed = trial.case, probe(trial)
    facts = _facts(case, probed)
    examined = sum(command.requests for command in facts.commands)
    notes = []
    if examined < probed.wanted_samples:
        notes.append(f"{examined} of {probed.wanted_samples} requests were examined: each takes long")
    return CheckedCase(case=case.name, group=case.group, faults=[], warnings=notes, facts=facts)


def _facts(case: Case, probed: ProbedCase) -> CaseFacts:
    """Return what a case did, as it was sent: where it was scaled down, the document names the whole of it."""
    burst = probed.burst
    return CaseFacts(
        commands=[_command(name, probed) for name in dict.fromkeys([*probed.before, *probed.after, *burst.errors])],
        held=probed.held,
        client_share=burst.client_share,
        server_share=burst.server_share,
        sampled_requests=sum(samples.requests for samples in probed.before.values()),
        burst_requests=burst.requests,
        ops_per_sec=burst.result.ops_per_sec,
        factor=1.0,
        seconds=case.client.seconds,
        requests=case.client.requests,
        has_dataset=case.dataset is not None and case.dataset.is_scaled,
        per_second=case.client.per_second,
        memory_limit_bytes=probed.memory_limit_bytes,
        burst_found=burst.found,
        hidden_errors=burst.hidden_errors,
        calls=dict(burst.calls),
        checks=[*burst.checks, *encoding_checks(case, [*probed.before.values(), *probed.after.values()])],
        evicts=case.config.get("maxmemory-policy", "noeviction") != "noeviction",
    )


def encoding_checks(case: Case, samples: Sequence[CommandSamples]) -> list[Check]:
    """Return the check of the encodings of all keys that requests named, where the case declares them."""
    if not case.expect.encoding:
        return []
    encodings = sorted({encoding for of_command in samples for encoding in of_command.encodings})
    declared = " or ".join(case.expect.encoding)
    is_held = bool(encodings) and set(encodings) <= set(case.expect.encoding)
    return [Check(check="encoding", ok=is_held, value=", ".join(encodings) or "none", limit=declared)]


def _command(name: str, probed: ProbedCase) -> CommandFacts:
    writes = any(samples[name].writes for samples in (probed.before, probed.after) if name in samples)
    before = probed.before.get(name) or CommandSamples(name, writes)
    later = probed.after.get(name) or CommandSamples(name, writes)
    example = before.example_of_nothing or later.example_of_nothing
    at_full_speed = probed.burst.errors.get(name)
    return CommandFacts(
        command=name,
        writes=writes,
        requests=before.requests + later.requests,
        errors=dict(before.errors + later.errors),
        nothing_share_first=before.first_nothing_share,
        nothing_share=before.nothing_share,
        nothing_share_after=later.nothing_share,
        zero_share_first=before.first_zero_share,
        zero_share_after=later.zero_share,
        missing_share=before.missing_share,
        place_missing_share=before.place_missing_share,
        life_seconds=before.shortest_life_seconds,
        example=example or before.example_of_missing or later.example_of_missing,
        burst_errors=0 if at_full_speed is None else at_full_speed.count,
        encodings=dict(before.encodings + later.encodings),
        first_burst_error=None if at_full_speed is None else at_full_speed.first,
    )
