import { useMemo, useState } from "preact/hooks";
import { percent } from "../numbers.ts";
import type { SideName } from "../pictures.ts";
import { changeColouring, objectColouring, objectsOf } from "./colouring.ts";
import { difference, shareOf } from "./difference.ts";
import { FlameGraph } from "./FlameGraph.tsx";
import { ChangeLegend, ObjectLegend } from "./Legend.tsx";
import { laidOut, visible } from "./layout.ts";
import type { Scene } from "./painter.ts";
import { type Matcher, matchedSamples, matcher, matches } from "./search.ts";
import type { FlameTree, SideWeights } from "./tree.ts";
import { bothSides } from "./words.ts";

export type ViewName = SideName | "difference";

interface Properties {
  tree: FlameTree;
  view: ViewName;
  /** The side whose samples the widths are. */
  side: SideName;
  alone: boolean;
  text: string;
}

/** One view of a tree, with its legend; remembers where it is zoomed to, also from view to view. */
export function FlameView({ tree, view, side, alone, text }: Properties) {
  const [path, setPath] = useState<number[]>([]);
  const layout = useMemo(() => laidOut(tree, (tree.weights[side] as SideWeights).inclusive), [tree, side]);
  const objects = useMemo(() => objectsOf(tree), [tree]);
  const changes = useMemo(() => (view === "difference" ? difference(tree) : null), [tree, view]);
  const colouring = useMemo(
    () => (changes === null ? objectColouring(tree, objects) : changeColouring(changes)),
    [tree, objects, changes],
  );
  const search = useMemo(() => asked(text), [text]);
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
      <p class="flame-found small">
        <button type="button" class="choice" disabled={zoomed === 0} onClick={() => setPath([])}>
          whole
        </button>
        <span role="status">{search.fault ?? (matched !== null && found(tree, matched))}</span>
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

function asked(text: string): { matcher: Matcher | null; fault: string | null } {
  try {
    return { matcher: matcher(text), fault: null };
  } catch {
    return { matcher: null, fault: "This is not a regular expression." };
  }
}

function found(tree: FlameTree, matched: Uint8Array): string {
  const share = bothSides(tree.weights, (one) =>
    percent(shareOf(matchedSamples(tree, matched, one.inclusive), one)),
  );
  return `matches hold ${share} of all samples`;
}

function labelOf(view: ViewName | null, side: SideName): string {
  const what = view === "difference" ? `difference of base and head, widths of ${side}` : view;
  return `Flame graph${what === null ? "" : `, ${what}`}: arrows move among frames, Enter zooms, Escape goes back; the table holds the same numbers`;
}
