import { useMemo, useState } from "preact/hooks";
import { SortHeader, useOrder } from "../cases/CaseList.tsx";
import { count, percent } from "../numbers.ts";
import { present, type SideName } from "../sides.ts";
import { costs, shareOf } from "./difference.ts";
import { type FunctionCost, type FunctionOrder, functionCosts, sortedFunctions } from "./functions.ts";
import type { Matcher } from "./search.ts";
import { bothSides, changeWithInterval } from "./text.ts";
import { type FlameTree, frameKey } from "./tree.ts";

const SHOWN_FIRST = 15;
/** How many more are shown at a time: there may be thousands. */
const SHOWN_MORE = 100;

/** In how many of all cases functions have samples, by the key of their frame. */
export interface CaseCounts {
  ofFrame: ReadonlyMap<string, number>;
  all: number;
}

interface Properties {
  tree: FlameTree;
  matcher: Matcher | null;
  cases: CaseCounts | null;
  /** The frame whose callers and callees are shown, by its key. */
  chosen: string | null;
  choose: (key: string) => void;
}

/** The figures of the graph by function, for screen readers and narrow screens too. */
export function FunctionTable({ tree, matcher, cases, chosen, choose }: Properties) {
  const all = useMemo(() => functionCosts(tree), [tree]);
  const header = useOrder<FunctionOrder>("self");
  const [number, setNumber] = useState(SHOWN_FIRST);
  const { base, head } = tree.weights;
  const unit = base && head ? costs(base, head).unit : null;
  const casesOf = (entry: FunctionCost) => cases?.ofFrame.get(frameKey(entry)) ?? 0;
  const filtered = matcher === null ? all : all.filter((entry) => matcher(entry));
  const sorted = sortedFunctions(filtered, header.order, header.reversed, casesOf);
  const shown = sorted.slice(0, number);
  return (
    <div class="wide">
      <table class="functions">
        <thead>
          <tr>
            <SortHeader by="function" ascending {...header} />
            <SortHeader by="self" class="number" {...header} />
            <SortHeader by="total" class="number" {...header} />
            {unit !== null && <SortHeader by="change" heading="change of self" class="number" {...header} />}
            {cases !== null && <SortHeader by="cases" class="number" {...header} />}
          </tr>
        </thead>
        <tbody>
          {shown.map((entry) => (
            <tr key={entry.frame}>
              <th scope="row">
                <button
                  type="button"
                  class="plain function"
                  aria-pressed={frameKey(entry) === chosen}
                  title="show callers and callees"
                  onClick={() => choose(frameKey(entry))}
                >
                  <code>{entry.function}</code>
                </button>{" "}
                {(entry.file ?? entry.object) !== null && (
                  <span class="quiet small">{entry.file ?? entry.object}</span>
                )}
              </th>
              <Costs tree={tree} samples={entry.self} />
              <Costs tree={tree} samples={entry.total} />
              {unit !== null && entry.change !== null && (
                <td class={`number ${entry.change.isSure ? "strong" : "quiet"}`}>
                  {changeWithInterval(entry.change.change, entry.change.reach, unit).replaceAll(
                    " ",
                    "\u00a0",
                  )}
                </td>
              )}
              {cases !== null && (
                <td class="number">
                  {casesOf(entry)} of {cases.all}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length === 0 && <p class="quiet">No function matches.</p>}
      {shown.length < sorted.length && (
        <button type="button" class="choice" onClick={() => setNumber(number + SHOWN_MORE)}>
          show {Math.min(SHOWN_MORE, sorted.length - number)} more of {sorted.length.toLocaleString("en-US")}{" "}
          in the graph
        </button>
      )}
    </div>
  );
}

/** The shares of both sides, and what they are in time where that is known. */
function Costs({ tree: { weights }, samples }: { tree: FlameTree; samples: FunctionCost["self"] }) {
  const nameOfSide = (side: object): SideName => (side === weights.base ? "base" : "head");
  const shares = bothSides(weights, (side) => percent(shareOf(samples[nameOfSide(side)] ?? 0, side)));
  const isTimed = present(weights).every(([, side]) => side.nanoseconds !== null);
  const times = bothSides(weights, (side) =>
    count(shareOf(samples[nameOfSide(side)] ?? 0, side) * (side.nanoseconds ?? 0)),
  );
  return (
    <td class="number">
      {unbroken(shares)}
      {isTimed && (
        <>
          <br />
          <span class="small quiet" title="per request">
            {unbroken(times)}&nbsp;ns
          </span>
        </>
      )}
    </td>
  );
}

/** A line may break only after the arrow. */
function unbroken(text: string): string {
  return text.replaceAll(/ (?=[%→])/g, "\u00a0");
}
