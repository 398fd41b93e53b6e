/** What is drawn of the cases, as `zerolap.pictures/1` says. */

/** Share of requests answered within so many microseconds, ascending; share 1 is the maximum. */
export type LatencyPoint = [share: number, microseconds: number];

/** A slice of a trial, or several; the time is that of the slices of both sides together. */
export type ThroughputPoint = [seconds: number, requestsPerSecond: number];

export interface StackFrame {
  function: string;
  file: string | null;
  object: string;
  inlined: boolean;
}

/** Sampled stacks in columns; a node's parent precedes it, -1 is above the root of a thread. */
export interface StackTree {
  event: string;
  samples: number;
  lost: number;
  cpu_ns_per_op: number | null;
  /** Its standard error, as a part of it. */
  cpu_error: number;
  threads: string[];
  frames: StackFrame[];
  nodes: { thread: number[]; parent: number[]; frame: number[]; samples: number[] };
}

export type SideName = "base" | "head";

/** A run alone has only a head. */
export type Sides<Picture> = { [side in SideName]?: Picture | null };

export interface CasePictures {
  latency: Sides<LatencyPoint[]> | null;
  throughput: Sides<ThroughputPoint[]> | null;
  stacks: Sides<StackTree> | null;
  /** When, on the axis of throughput, the servers were started anew. */
  starts_at: number[];
  /** Why pictures are not there that once were measured. */
  missing: string | null;
}

export type Pictures = Record<string, CasePictures>;

/** Frames are written once for all trees. */
interface Written {
  schema?: string;
  frames?: StackFrame[];
  cases?: Pictures;
}

const SCHEMA = "zerolap.pictures/1";

/** The pictures of this page by case; none where it was made without. */
export function embeddedPictures(): Pictures {
  return picturesIn(document.getElementById("pictures")?.textContent ?? "");
}

/** A page of an older version keeps its placeholder, which is no object. */
export function picturesIn(text: string): Pictures {
  if (!text.trimStart().startsWith("{")) {
    return {};
  }
  const { schema, frames = [], cases = {} } = JSON.parse(text) as Written;
  if (schema !== SCHEMA) {
    return {};
  }
  for (const { stacks } of Object.values(cases)) {
    for (const [, tree] of present(stacks ?? {})) {
      tree.frames = frames;
    }
  }
  return cases;
}

/** The sides there is something of, base first. */
export function present<Picture>(sides: Sides<Picture>): [SideName, Picture][] {
  return (["base", "head"] as const).flatMap((side): [SideName, Picture][] => {
    const picture = sides[side];
    return picture === undefined || picture === null ? [] : [[side, picture]];
  });
}

/** What is to be said of each side there is, by its name where there are two. */
export function told<Picture>(sides: Sides<Picture>, text: (picture: Picture) => string): string[] {
  const drawn = present(sides);
  return drawn.map(([side, picture]) => (drawn.length > 1 ? `${side} ${text(picture)}` : text(picture)));
}
