import { useMemo, useState } from "preact/hooks";
import { percent } from "../numbers.ts";
import type { SideName } from "../sides.ts";
import {
  changeColouring,
  changeLegend,
  objectColouring,
  objectLegend,
  objectsOf,
  type Swatch,
} from "./colouring.ts";
import { type Difference, difference, shareOf } from "./difference.ts";
import { FlameGraph } from "./FlameGraph.tsx";
import { laidOut, visible } from "./layout.ts";
import type { Scene } from "./painter.ts";
import { type Matcher, matchedSamples, matcher, matches } from "./search.ts";
import { bothSides, changeText } from "./text.ts";
import type { FlameTree, SideWeights } from "./tree.ts";

export type ViewName = SideName | "difference";

interface Properties {
  tree: FlameTree;
  view: ViewName;
  /** The side whose samples are drawn as widths. */
  side: SideName;
  alone: boolean;
  text: string;
}

/** One view of a tree, with its legend; the zoom stays when the view changes. */
export function FlameView({ tree, view, side, alone, text }: Properties) {
  const [path, setPath] = useState<number[]>([]);
  const layout = useMemo(() => laidOut(tree, (tree.weights[side] as SideWeights).inclusive), [tree, side]);
  const objects = useMemo(() => objectsOf(tree), [tree]);
  const changes = useMemo(() => (view === "difference" ? difference(tree) : null), [tree, view]);
  const colouring = useMemo(
    () => (changes === null ? objectColouring(tree, objects) : changeColouring(changes)),
    [tree, objects, changes],
  );
  const search = useMemo(() => searchFor(text), [text]);
  const matched = useMemo(
    () => (search.matcher === null ? null : matches(tree, search.matcher)),
    [tree, search],
  );
  const scene = useMemo((): Scene => ({ layout, colouring, matched }), [layout, colouring, matched]);

  const zoomed = visible(layout, path.at(-1) ?? 0);
  const zoom = (node: number) => node !== zoomed && setPath([...path, node]);
  const back = () => setPath(path.slice(0, -1));
  return (
    <>
      {changes === null ? <ObjectLegend objects={objects} /> : <ChangeLegend difference={changes} />}
      <p class="flame-matches small">
        <button type="button" class="choice" disabled={zoomed === 0} onClick={() => setPath([])}>
          reset zoom
        </button>
        <span role="status">{search.fault ?? (matched !== null && matchText(tree, matched))}</span>
      </p>
      {tree.weights[side]?.inclusive[0] === 0 && (
        <p class="quiet">The {side} has no samples of this thread.</p>
      )}
      <FlameGraph
        scene={scene}
        zoomed={zoomed}
        zoom={zoom}
        back={back}
        label={labelOf(alone ? null : view, side)}
      />
    </>
  );
}

function searchFor(text: string): { matcher: Matcher | null; fault: string | null } {
  try {
    return { matcher: matcher(text), fault: null };
  } catch {
    return { matcher: null, fault: "Not a valid regular expression." };
  }
}

function matchText(tree: FlameTree, matched: Uint8Array): string {
  const share = bothSides(tree.weights, (side) =>
    percent(shareOf(matchedSamples(tree, matched, side.inclusive), side)),
  );
  return `${share} of all samples match`;
}

function labelOf(view: ViewName | null, side: SideName): string {
  const subject =
    view === "difference" ? `difference between base and head, frame widths from ${side}` : view;
  return `Flame graph${subject === null ? "" : `, ${subject}`}. Arrow keys move between frames, Enter zooms in, Escape zooms out. The table of functions has the same figures.`;
}

function ObjectLegend({ objects }: { objects: string[] }) {
  return (
    <p class="flame-legend">
      {objectLegend(objects).map(({ label, swatch }) => (
        <span key={label}>
          <Mark swatch={swatch} /> {label}
        </span>
      ))}
    </p>
  );
}

function ChangeLegend({ difference }: { difference: Difference }) {
  const { largest, unit } = difference;
  if (largest === 0) {
    return <p class="flame-legend">No frame changed significantly.</p>;
  }
  return (
    <p class="flame-legend">
      <span class="number">
        {changeText(-largest, unit)}{" "}
        {changeLegend().map((swatch) => (
          <Mark key={`${swatch.property}-${swatch.strength}`} swatch={swatch} />
        ))}{" "}
        {changeText(largest, unit)}
      </span>
      <span class="quiet">
        change of {unit === "nanoseconds" ? "CPU time per request" : "the share of samples"}, callees
        included; blue: less, red: more, grey: no significant change
      </span>
    </p>
  );
}

function Mark({ swatch }: { swatch: Swatch }) {
  return (
    <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
      <rect width={1} height={1} style={{ fill: `var(${swatch.property})`, opacity: swatch.strength }} />
    </svg>
  );
}
