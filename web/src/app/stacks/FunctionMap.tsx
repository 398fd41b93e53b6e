import { useMemo, useState } from "preact/hooks";
import { type HeatCell, HeatMap } from "../../core/charts/HeatMap.tsx";
import { Choice } from "../../core/flame/StackPanel.tsx";
import { frameKey } from "../../core/flame/tree.ts";
import { count, counted, percent } from "../../core/numbers.ts";
import type { CostlyFunction, MergedCase, StackFunctions } from "../../core/records.ts";
import { changeIn, costIn, overAllCases } from "./functionCells.ts";
import { type Selection, stacksUrl } from "./selection.ts";

const SHOWN = ["cost", "change"] as const;
const ALL_CASES = {
  key: "",
  place: 0,
  title: "The part of the samples of all cases, weighted as chosen; functions are ordered by it",
  label: "all cases",
};

/** Functions against cases: what costs most over all benchmarks. */
export function FunctionMap({ answer, selection }: { answer: StackFunctions; selection: Selection }) {
  const compares = answer.cases.some((profiled) => profiled.sides.length === 2);
  const [wanted, setShown] = useState<(typeof SHOWN)[number]>("cost");
  const shown = compares ? wanted : "cost";
  const isTimed = answer.cases.every((profiled) =>
    profiled.sides.every((side) => side.cpu_ns_per_op !== null),
  );
  const rows = useMemo(() => answer.functions.map(rowOf), [answer]);
  const columns = useMemo(
    () => [ALL_CASES, ...answer.cases.map((merged, place) => columnOf(merged, place + 1, selection))],
    [answer, selection],
  );
  const cells = useMemo(() => {
    const cellOf = shown === "cost" ? costIn : changeIn;
    return answer.functions.map((entry) => [
      overAllCases(entry, answer.cases),
      ...answer.cases.map((merged, place) => cellOf(entry, merged, place, { isTimed, selection })),
    ]);
  }, [answer, shown, isTimed, selection]);
  const limit = useMemo(() => largest(cells), [cells]);
  if (answer.cases.length === 0) {
    return <p>There are no stacks here.</p>;
  }
  const unit = isTimed ? "CPU nanoseconds per request" : "shares of the case's samples";
  return (
    <>
      {compares && <Choice label="Shown" values={SHOWN} chosen={shown} choose={setShown} />}
      <p class="small">
        {shown === "cost"
          ? "What functions cost themselves, without what they call"
          : "How much the cost of functions themselves changed from base to head"}
        , in {unit}. The first {answer.functions.length} of{" "}
        {counted(answer.all_functions, "function", "functions")} that samples have, by their cost over all
        cases
        {answer.weights === "time" ? ", each case by the CPU time of its requests" : ", each case alike"}.
        {shown === "change" && " A change whose interval includes 0 is in brackets and has no colour."}
      </p>
      <HeatMap
        caption={`Functions by case, ${unit}`}
        corner="function"
        rows={rows}
        columns={columns}
        cell={(row, column) => cells[row.place]?.[column.place] ?? null}
        limit={limit}
        colours={shown === "cost" ? "amount" : "worse-better"}
      />
    </>
  );
}

function rowOf(entry: CostlyFunction, place: number) {
  const where = entry.file ?? entry.object;
  return {
    key: frameKey(entry),
    place,
    title: `${entry.function}, ${where}`,
    label: (
      <>
        <code>{entry.function}</code> <span class="quiet small">{where}</span>
      </>
    ),
  };
}

function columnOf({ case: name, results, sides }: MergedCase, place: number, selection: Selection) {
  const costs = sides.map((side) =>
    side.cpu_ns_per_op === null ? percent(1) : `${count(side.cpu_ns_per_op)} ns`,
  );
  return {
    key: name,
    place,
    title: `${name} of ${counted(results.length, "result", "results")}: ${costs.join(" → ")} per request`,
    label: <a href={stacksUrl({ ...selection, case: name })}>{name}</a>,
  };
}

function largest(cells: (HeatCell | null)[][]): number {
  const values = cells.flat().map((cell) => Math.abs(cell?.value ?? 0));
  values.sort((one, other) => other - one);
  // The very largest would leave no colour to the others.
  return values[Math.floor(values.length / 50)] || values[0] || 1;
}
