/** The documents of comparisons and runs, read from JSON, and what is drawn of their cases. */

import type {
  CasePictures,
  EmulatedSnapshotReport,
  SampledLines,
  SnapshotReport,
  SourceText,
  StackFrame,
} from "../records.ts";
import type { Sides, Stacks } from "../sides.ts";

export const COMPARISON_SCHEMA = "zerolap.comparison/1";
export const RUN_SCHEMA = "zerolap.run/1";
export const SNAPSHOT_SCHEMA: SnapshotReport["schema"] = "zerolap.snapshot/1";
export const EMULATED_SCHEMA: EmulatedSnapshotReport["schema"] = "zerolap.emulated-snapshot/1";
export const CHECK_SCHEMA = "zerolap.check/1";
export const COVERAGE_SCHEMA = "zerolap.coverage/1";
const SCHEMAS: readonly string[] = [
  COMPARISON_SCHEMA,
  RUN_SCHEMA,
  SNAPSHOT_SCHEMA,
  EMULATED_SCHEMA,
  CHECK_SCHEMA,
  COVERAGE_SCHEMA,
];

/** A seed of 64 bits exceeds a number and is read as text; within strings quotes are escaped. */
const SEED = /(?<!\\)"seed":(\d+)/;

/** Data that cannot be shown; the message is for the reader of the page. */
export class UnreadableData extends Error {}

/** The stacks of a case, and the source lines of some of their functions. */
export interface CaseStacks {
  /** Of the time on the processor. */
  cpu: Sides<Stacks>;
  /** Of the time off it. */
  waits: Sides<Stacks>;
  lines: readonly SampledLines[];
  sources: readonly SourceText[];
}

/** The stacks of a case, which are large: they are parsed when they are shown. */
export interface StackSource {
  /** Parses the stacks; throws `UnreadableData`. */
  read: () => CaseStacks;
  text: () => string;
}

/** What is drawn of a case. */
export type CaseDrawings = Omit<CasePictures, "stacks" | "waits" | "lines"> & { stacks: StackSource | null };

/** The pictures of a case with the source of its stacks, in place of these. */
export function withStackSource(pictures: CasePictures, stacks: StackSource | null): CaseDrawings {
  const { latency, throughput, starts_at, missing } = pictures;
  return { latency, throughput, starts_at, missing, stacks };
}

/** Stacks with the functions that they refer to; none is an empty object. */
export function withFrames(stacks: CasePictures["stacks"], frames: StackFrame[]): Sides<Stacks> {
  return Object.fromEntries(Object.entries(stacks ?? {}).map(([side, tree]) => [side, { ...tree, frames }]));
}

/** What is drawn of each case, by name; cases without drawings are left out. */
export type Drawings = ReadonlyMap<string, CaseDrawings>;

/** The documents that can be shown. */
export type MeasuredDocument =
  | { schema: typeof COMPARISON_SCHEMA | typeof RUN_SCHEMA | typeof CHECK_SCHEMA | typeof COVERAGE_SCHEMA }
  | SnapshotReport
  | EmulatedSnapshotReport;

/** Parses a document; throws `UnreadableData`. */
export function documentIn(text: string): MeasuredDocument {
  const document = parsed<MeasuredDocument>(text.replace(SEED, '"seed":"$1"'), "The document of this report");
  const schema: string | undefined = document?.schema;
  if (schema === undefined || !SCHEMAS.includes(schema)) {
    throw new UnreadableData(
      `The document of this report has the schema ${JSON.stringify(schema ?? null)}. This page can show ${SCHEMAS.join(", ")}.`,
    );
  }
  return document;
}

/** Parses JSON; throws `UnreadableData`, in which the data are named by the subject. */
export function parsed<Data>(text: string, subject: string): Data {
  try {
    return JSON.parse(text) as Data;
  } catch (fault) {
    throw new UnreadableData(`${subject} is not valid JSON: ${(fault as Error).message}.`, { cause: fault });
  }
}
