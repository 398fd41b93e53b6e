import { useMemo, useState } from "preact/hooks";
import { percent } from "../numbers.ts";
import type { SideName } from "../sides.ts";
import { changeColouring, changeLegend, kindColouring, kindLegend, type Swatch } from "./colouring.ts";
import { type Difference, difference, shareOf } from "./difference.ts";
import { FlameGraph } from "./FlameGraph.tsx";
import { laidOut, visible } from "./layout.ts";
import type { Scene } from "./painter.ts";
import { type Matcher, matchedSamples, matches } from "./search.ts";
import { bothSides, changeText, subjectOf } from "./text.ts";
import { at, type FlameFrame, type FlameTree, type SideWeights } from "./tree.ts";

export type ViewName = SideName | "difference";

/** Where the root is: at the bottom of a flame graph, at the top of an icicle. */
export type Shape = "flame graph" | "icicle";

interface Properties {
  tree: FlameTree;
  view: ViewName;
  /** The side whose samples are drawn as widths. */
  side: SideName;
  alone: boolean;
  shape: Shape;
  matcher: Matcher | null;
  /** What the tree is of, for screen readers. */
  subject: string;
  /** Has the search take the keyboard. */
  search?: () => void;
  choose?: (frame: FlameFrame) => void;
  /** Whether the legend and the search are shown elsewhere. */
  plain?: boolean;
}

/** One view of a tree, with its legend; the zoom stays when the view changes. */
export function FlameView(properties: Properties) {
  const { tree, view, side, alone, shape, matcher, subject, search, choose, plain = false } = properties;
  const [path, setPath] = useState<number[]>([]);
  const layout = useMemo(() => laidOut(tree, (tree.weights[side] as SideWeights).inclusive), [tree, side]);
  const changes = useMemo(() => (view === "difference" ? difference(tree) : null), [tree, view]);
  const colouring = useMemo(
    () => (changes === null ? kindColouring(tree) : changeColouring(changes)),
    [tree, changes],
  );
  const matched = useMemo(() => (matcher === null ? null : matches(tree, matcher)), [tree, matcher]);
  const rootBelow = shape === "flame graph";
  const scene = useMemo(
    (): Scene => ({ layout, colouring, matched, rootBelow }),
    [layout, colouring, matched, rootBelow],
  );
  const zoomed = visible(layout, path.at(-1) ?? 0);
  const zoom = (node: number) => node !== zoomed && setPath([...path, node]);
  const back = () => setPath(path.slice(0, -1));
  const chooseNode = (node: number) => choose?.(tree.frames[at(tree.frame, node)] as FlameFrame);
  return (
    <>
      {!plain && (changes === null ? <KindLegend tree={tree} /> : <ChangeLegend difference={changes} />)}
      {!plain && (
        <p class="flame-matches small">
          <button type="button" class="choice" disabled={zoomed === 0} onClick={() => setPath([])}>
            reset zoom
          </button>
          <span role="status">{matched !== null && matchText(tree, matched)}</span>
        </p>
      )}
      {tree.weights[side]?.inclusive[0] === 0 && <p class="quiet">The {side} has no samples of this.</p>}
      <FlameGraph
        scene={scene}
        zoomed={zoomed}
        zoom={zoom}
        back={back}
        {...(search === undefined ? {} : { search })}
        {...(choose === undefined ? {} : { choose: chooseNode })}
        explained={!plain}
        label={labelOf(shape, subject, alone ? null : view, side)}
      />
    </>
  );
}

function matchText(tree: FlameTree, matched: Uint8Array): string {
  const share = bothSides(tree.weights, (side) =>
    percent(shareOf(matchedSamples(tree, matched, side.inclusive), side)),
  );
  return `${share} of ${subjectOf(tree.weights)} match`;
}

function labelOf(shape: Shape, subject: string, view: ViewName | null, side: SideName): string {
  const name = shape === "icicle" ? "Icicle graph" : "Flame graph";
  const shown = view === "difference" ? `difference between base and head, frame widths from ${side}` : view;
  const parts = [name, subject, shown].filter((part) => part !== null && part !== "");
  return `${parts.join(", ")}. Arrow keys move between frames, Enter zooms in, Escape zooms out. The table of functions has the same figures.`;
}

const KIND_TITLES = {
  server: "functions of the server's program",
  inlined: "functions whose code the compiler put into their callers",
  libraries: "functions of shared libraries",
  kernel: "functions of the kernel",
  other: "what has no name, or was too small to be shown",
};

function KindLegend({ tree }: { tree: FlameTree }) {
  return (
    <p class="flame-legend">
      {useMemo(() => kindLegend(tree), [tree]).map(({ kind, swatch }) => (
        <span key={kind} title={KIND_TITLES[kind]}>
          <Mark swatch={swatch} /> {kind}
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
      <span
        class="quiet"
        title="The interval is three standard errors to either side: of the number of samples on both sides, and of the CPU time of a request"
      >
        change of {unit === "nanoseconds" ? "CPU time per request" : "the share of samples"}, callees
        included; blue: less (better), red: more (worse), grey: the interval of the change includes 0
      </span>
    </p>
  );
}

export function Mark({ swatch }: { swatch: Swatch }) {
  return (
    <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
      <rect width={1} height={1} style={{ fill: `var(${swatch.property})`, opacity: swatch.strength }} />
    </svg>
  );
}
