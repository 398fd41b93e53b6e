/** What was traced of a case: metrics, system calls by thread, waiting, and stacks; of a comparison both sides. */

import { count, counted, metricHeading, share } from "../numbers.ts";
import type { TracedCall, TracedSide, TracedStacks, TracedThread } from "../records.ts";
import { Fold } from "./facts.tsx";

const SHOWN_CALLS = 30;
const SHOWN_THREADS = 16;

/** What is reported beside names; rows with the most of the first come first. */
const CALL_FIGURES = [
  ["per 1,000 requests", (call: TracedCall) => 1000 * call.calls_per_op],
  ["ns per request", (call: TracedCall) => call.ns_per_op],
  ["bytes per request", (call: TracedCall) => call.bytes_per_op],
] as const;
const THREAD_FIGURES = [
  ["times off per 1,000", (thread: TracedThread) => 1000 * thread.off_per_op],
  ["ns off/request", (thread: TracedThread) => thread.off_ns_per_op],
  ["in the run queue", (thread: TracedThread) => thread.queue_ns_per_op],
  ["faults per 1,000", (thread: TracedThread) => 1000 * thread.faults_per_op],
] as const;

/** A figure is null where it has no meaning, such as bytes of a call that moves none. */
type Figures<Row> = ReadonlyArray<readonly [string, (row: Row) => number | null]>;

/** Of a run one side, of a comparison base and head. */
export function TracedCounts({ sides }: { sides: TracedSide[] }) {
  const head = sides.at(-1);
  if (head === undefined) {
    return null;
  }
  const { stacks, no_stacks, no_tcp } = head.traced;
  const ofHead = sides.length > 1 ? " of the head" : "";
  return (
    <Fold summary={`Traced in ${counted(head.passes, "pass", "passes")}: system calls, waiting, faults`}>
      <TracedMetrics sides={sides} />
      <TracedTable
        caption="System calls; their time includes waiting"
        names={["thread", "system call"]}
        figures={CALL_FIGURES}
        sides={sides.map(
          ({ traced }) => new Map(traced.calls.map((call) => [`${call.thread}\0${call.call}`, call])),
        )}
        shown={SHOWN_CALLS}
      />
      <TracedTable
        caption="Threads off the processor, and their page faults"
        names={["thread"]}
        figures={THREAD_FIGURES}
        sides={sides.map(({ traced }) => new Map(traced.threads.map((thread) => [thread.thread, thread])))}
        shown={SHOWN_THREADS}
      />
      {stacks.map((ofEvent) => (
        <section key={ofEvent.event}>
          <h4>Stacks of {what(ofEvent) + ofHead}, innermost function first</h4>
          <ol>
            {ofEvent.stacks.map((stack, place) => (
              <li key={place}>
                {share(stack.share)} <span class="quiet">{stack.thread}</span>{" "}
                <code class="small">{stack.frames.join(" ← ")}</code>
              </li>
            ))}
          </ol>
        </section>
      ))}
      {no_stacks !== null && <p class="note">Stacks are missing: {no_stacks}</p>}
      {no_tcp !== null && <p class="note">Nothing is reported of TCP: {no_tcp}</p>}
    </Fold>
  );
}

function what({ event, samples }: TracedStacks): string {
  return event === "waits" ? "the time off the processor" : `${samples.toLocaleString("en-GB")} ${event}`;
}

function TracedMetrics({ sides }: { sides: TracedSide[] }) {
  const names = Object.keys(sides.at(-1)?.metrics ?? {});
  const values = (name: string) => sides.flatMap(({ metrics }) => (metrics[name] ? [metrics[name]] : []));
  return (
    <div class="wide">
      <table class="functions">
        <thead>
          <tr>
            <th scope="col">metric</th>
            <th scope="col" class="number">
              mean
            </th>
            <th scope="col" class="number">
              range of the passes
            </th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{metricHeading(name)}</th>
              <td class="number">{ofSides(values(name).map(([mean]) => count(mean)))}</td>
              <td class="number quiet">
                {ofSides(values(name).map(([, least, most]) => `${count(least)} to ${count(most)}`))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TableProperties<Row> {
  caption: string;
  names: string[];
  figures: Figures<Row>;
  /** The rows of each side by their names, which a zero character separates. */
  sides: Array<Map<string, Row>>;
  shown: number;
}

function TracedTable<Row>({ caption, names, figures, sides, shown }: TableProperties<Row>) {
  const of = (key: string, figure: (row: Row) => number | null) => {
    const rowsOfSides = sides.map((rows) => rows.get(key));
    const hasAny = rowsOfSides.some((row) => row !== undefined && figure(row) !== null);
    return rowsOfSides.map((row) => (row === undefined ? (hasAny ? 0 : null) : figure(row)));
  };
  const first = figures[0]?.[1] ?? (() => 0);
  const most = (key: string) => Math.max(...of(key, first).map((value) => value ?? 0));
  const keys = [...new Set(sides.flatMap((rows) => [...rows.keys()]))]
    .sort((one, other) => most(other) - most(one))
    .slice(0, shown);
  if (keys.length === 0) {
    return null;
  }
  return (
    <>
      <h4>{caption}</h4>
      <div class="wide">
        <table class="functions">
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              {figures.map(([heading]) => (
                <th key={heading} scope="col" class="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key}>
                {key.split("\0").map((name, place) => (
                  <th key={place} scope="row">
                    <code>{name}</code>
                  </th>
                ))}
                {figures.map(([heading, figure]) => (
                  <td key={heading} class="number">
                    {ofSides(of(key, figure).map(count))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function ofSides(values: string[]): string {
  return values.join(" → ");
}
