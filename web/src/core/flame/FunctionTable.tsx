import { useMemo, useState } from "preact/hooks";
import { SortHeader, useOrder } from "../cases/CaseList.tsx";
import { percent } from "../numbers.ts";
import { present, type SideName, type Sides } from "../sides.ts";
import { type Cost, changeOf, costs, isSure, shareOf } from "./difference.ts";
import { bothSides, changeText } from "./text.ts";
import { at, type FlameTree, isFunction } from "./tree.ts";

const SHOWN_FIRST = 15;
/** How many more are shown at a time: there may be thousands. */
const SHOWN_MORE = 100;

/** The figures of the graph by function, for screen readers and narrow screens too. */
export function FunctionTable({ tree }: { tree: FlameTree }) {
  const all = useMemo(() => functionCosts(tree), [tree]);
  const header = useOrder<FunctionOrder>("self");
  const [number, setNumber] = useState(SHOWN_FIRST);
  const { base, head } = tree.weights;
  const unit = base && head ? costs(base, head).unit : null;
  const sorted = sortedFunctions(all, header.order, header.reversed);
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
          </tr>
        </thead>
        <tbody>
          {shown.map((entry) => (
            <tr key={entry.frame}>
              <th scope="row">
                <code>{entry.function}</code>{" "}
                {(entry.file ?? entry.object) !== null && (
                  <span class="quiet small">{entry.file ?? entry.object}</span>
                )}
              </th>
              <td class="number">{share(tree, entry.self)}</td>
              <td class="number">{share(tree, entry.total)}</td>
              {unit !== null && (
                <td class={`number ${entry.isSure ? "strong" : "quiet"}`}>
                  {changeText(entry.change ?? 0, unit).replace(" ", "\u00a0")}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <button type="button" class="choice" onClick={() => setNumber(number + SHOWN_MORE)}>
          show {Math.min(SHOWN_MORE, sorted.length - number)} more of {sorted.length.toLocaleString("en-US")}
        </button>
      )}
    </div>
  );
}

/** The shares of both sides; a line may break only after the arrow. */
function share({ weights }: FlameTree, samples: FunctionCost["self"]): string {
  const text = bothSides(weights, (side) => {
    const name: SideName = side === weights.base ? "base" : "head";
    return percent(shareOf(samples[name] ?? 0, side));
  });
  return text.replaceAll(/ (?=[%→])/g, "\u00a0");
}

export interface FunctionCost {
  /** The place of the function among the frames, of which several may have the same name and file. */
  frame: number;
  function: string;
  file: string | null;
  /** The program or library, which is shown where the file is unknown. */
  object: string | null;
  /** Samples by side: those in the function itself, and those in it or below it. */
  self: Sides<number>;
  total: Sides<number>;
  /** Of the cost of the function itself; null where there is one side only. */
  change: number | null;
  isSure: boolean;
}

export type FunctionOrder = "function" | "self" | "total" | "change";

export function functionCosts(tree: FlameTree): FunctionCost[] {
  const outermost = outermostNodes(tree);
  const functions = tree.frames.map(
    (frame, place): FunctionCost => ({
      ...frame,
      frame: place,
      self: {},
      total: {},
      change: null,
      isSure: false,
    }),
  );
  for (const [side, weights] of present(tree.weights)) {
    tree.frame.forEach((frame, node) => {
      const { self, total } = functions[frame] as FunctionCost;
      self[side] = (self[side] ?? 0) + at(weights.own, node);
      total[side] = (total[side] ?? 0) + at(outermost, node) * at(weights.inclusive, node);
    });
  }
  const { base, head } = tree.weights;
  if (base && head) {
    const cost: Cost = costs(base, head);
    for (const entry of functions) {
      const [before, after] = [entry.self.base ?? 0, entry.self.head ?? 0];
      entry.change = changeOf(before, after, [base, head], cost);
      entry.isSure = isSure(before, after, [base, head], cost);
    }
  }
  return functions.filter((_, frame) => {
    const known = tree.frames[frame];
    return known !== undefined && isFunction(known);
  });
}

/** 1 for a node without an ancestor of the same function, else 0: totals count a recursion once. */
function outermostNodes(tree: FlameTree): Uint8Array {
  return Uint8Array.from(tree.frame, (frame, node) => {
    let above = at(tree.parent, node);
    while (above >= 0 && at(tree.frame, above) !== frame) {
      above = at(tree.parent, above);
    }
    return Number(above < 0);
  });
}

/** The functions in an order, the costlier or the more changed first. */
export function sortedFunctions(
  costs: FunctionCost[],
  order: FunctionOrder,
  reversed: boolean,
): FunctionCost[] {
  const result = [...costs].sort((left, right) =>
    order === "function"
      ? left.function.localeCompare(right.function, "en", { numeric: true })
      : size(right, order) - size(left, order),
  );
  return reversed ? result.reverse() : result;
}

function size(entry: FunctionCost, order: "self" | "total" | "change"): number {
  if (order === "change") {
    return Math.abs(entry.change ?? 0);
  }
  return Math.max(entry[order].base ?? 0, entry[order].head ?? 0);
}
