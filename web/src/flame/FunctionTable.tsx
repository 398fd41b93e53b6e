import { useMemo, useState } from "preact/hooks";
import { useOrder } from "../components/ordering.ts";
import { SortHeader } from "../components/SortHeader.tsx";
import { percent } from "../numbers.ts";
import type { SideName } from "../pictures.ts";
import { costs, shareOf } from "./difference.ts";
import { type FunctionCost, type FunctionOrder, functionCosts, sortedFunctions } from "./functions.ts";
import type { FlameTree } from "./tree.ts";
import { bothSides, changeText } from "./words.ts";

const SHOWN_FIRST = 15;

/** The same numbers for those who do not see the graph, or have little room for it. */
export function FunctionTable({ tree }: { tree: FlameTree }) {
  const all = useMemo(() => functionCosts(tree), [tree]);
  const header = useOrder<FunctionOrder>("own");
  const [whole, setWhole] = useState(false);
  const { base, head } = tree.weights;
  const unit = base && head ? costs(base, head).unit : null;
  const sorted = sortedFunctions(all, header.order, header.reversed);
  const shown = whole ? sorted : sorted.slice(0, SHOWN_FIRST);
  return (
    <div class="wide">
      <table class="functions">
        <thead>
          <tr>
            <SortHeader by="function" {...header} />
            <SortHeader by="own" class="number" {...header} />
            <SortHeader by="inclusive" class="number" {...header} />
            {unit !== null && <SortHeader by="change" shown="change of own" class="number" {...header} />}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={`${one.function}-${one.file}`}>
              <th scope="row">
                <code>{one.function}</code> {one.file !== null && <span class="quiet small">{one.file}</span>}
              </th>
              <td class="number">{share(tree, one.own)}</td>
              <td class="number">{share(tree, one.inclusive)}</td>
              {unit !== null && (
                <td class={`number ${one.sure ? "strong" : "quiet"}`}>
                  {changeText(one.change ?? 0, unit).replace(" ", "\u00a0")}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <button type="button" class="choice" onClick={() => setWhole(true)}>
          all {sorted.length.toLocaleString("en-US")} functions
        </button>
      )}
    </div>
  );
}

/** Where there is little room a line may break after the arrow alone. */
function share({ weights }: FlameTree, samples: FunctionCost["own"]): string {
  const text = bothSides(weights, (side) => {
    const name: SideName = side === weights.base ? "base" : "head";
    return percent(shareOf(samples[name] ?? 0, side));
  });
  return text.replaceAll(/ (?=[%→])/g, "\u00a0");
}
