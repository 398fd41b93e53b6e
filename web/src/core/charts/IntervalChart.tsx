import type { Cell, DrawnChange } from "../records.ts";

const WIDTH = 140;
const HEIGHT = 18;
const MARGIN = 5;

/** The range of the axis: the largest change, and the minimum effect, around which it is about linear. */
export interface Scale {
  largest: number;
  unit: number;
}

/** The scale that the changes in all these cells share. */
export function scaleOf(cells: readonly (Cell | undefined)[]): Scale {
  const changes = cells.flatMap((cell) => cell?.drawn ?? []);
  const unit = Math.max(1e-6, ...changes.map(({ least }) => least));
  const bounds = changes.flatMap(({ low, high, change }) => [low ?? 0, high ?? 0, change ?? 0]);
  return { largest: Math.max(3 * unit, ...bounds.map(Math.abs)), unit };
}

interface Properties {
  drawn: DrawnChange;
  scale: Scale;
  /** The change in words. */
  text: string;
  /** What the change is, which gives it its colour. */
  mark: Cell["mark"];
}

/** A change with its interval against the band of changes too small to matter; the axis is asinh. */
export function IntervalChart({ drawn, scale, text, mark }: Properties) {
  const place = (fraction: number) => {
    const part = Math.asinh(fraction / scale.unit) / Math.asinh(scale.largest / scale.unit);
    return WIDTH / 2 + Math.max(-1, Math.min(1, part)) * (WIDTH / 2 - MARGIN);
  };
  const low = place(drawn.low ?? -scale.largest);
  const high = place(drawn.high ?? scale.largest);
  const [bandStart, bandEnd] = [place(-drawn.least), place(drawn.least)];
  return (
    <svg
      class={`chart ${mark ?? ""}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
    >
      <title>{text}</title>
      <rect class="band" x={bandStart} y={1} width={bandEnd - bandStart} height={HEIGHT - 2} />
      <line class="zero" x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} />
      <line class="bounds" x1={low} x2={Math.max(high, low + 1)} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      <circle class="estimate" cx={place(drawn.change ?? scale.largest)} cy={HEIGHT / 2} r={3.5} />
    </svg>
  );
}
