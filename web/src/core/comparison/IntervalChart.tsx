import type { Outcome } from "../cases/OutcomeMark.tsx";
import { change, interval, percent } from "../numbers.ts";
import type { Verdict } from "../records.ts";

const WIDTH = 140;
const HEIGHT = 18;
const MARGIN = 5;

/** The range of the axis: the largest change, and the minimum effect, around which it is about linear. */
export interface Scale {
  largest: number;
  unit: number;
}

/** The scale that all these verdicts share. */
export function scaleOf(verdicts: Verdict[]): Scale {
  const bounds = verdicts
    .flatMap(({ low, high, change }) => [low ?? 0, high ?? 0, change ?? 0])
    .map(Math.abs);
  const unit = Math.max(1e-6, ...verdicts.map((verdict) => verdict.min_effect));
  return { largest: Math.max(3 * unit, ...bounds), unit };
}

/** A change with its interval against the band of changes too small to matter; the axis is asinh. */
export function IntervalChart({
  verdict,
  scale,
  outcome,
}: {
  verdict: Verdict;
  scale: Scale;
  outcome: Outcome;
}) {
  const place = (fraction: number) => {
    const part = Math.asinh(fraction / scale.unit) / Math.asinh(scale.largest / scale.unit);
    return WIDTH / 2 + Math.max(-1, Math.min(1, part)) * (WIDTH / 2 - MARGIN);
  };
  const low = place(verdict.low ?? -scale.largest);
  const high = place(verdict.high ?? scale.largest);
  const [bandStart, bandEnd] = [place(-verdict.min_effect), place(verdict.min_effect)];
  const text = `${change(verdict.change)}, interval ${interval(verdict.low, verdict.high)}, minimum effect ${percent(verdict.min_effect)}`;
  return (
    <svg
      class={`chart ${outcome}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
    >
      <title>{text}</title>
      <rect class="band" x={bandStart} y={1} width={bandEnd - bandStart} height={HEIGHT - 2} />
      <line class="zero" x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} />
      <line class="bounds" x1={low} x2={Math.max(high, low + 1)} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      <circle class="estimate" cx={place(verdict.change ?? scale.largest)} cy={HEIGHT / 2} r={3.5} />
    </svg>
  );
}
