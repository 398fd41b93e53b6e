import { useState } from "preact/hooks";
import type { CaseResult } from "../document.ts";
import { counted } from "../numbers.ts";
import type { Pictures } from "../pictures.ts";
import { deciding, metricLabel, type Order, sorted, type Word, word } from "../reading.ts";
import { CaseFilter } from "./CaseFilter.tsx";
import { CaseRow } from "./CaseRow.tsx";
import { scaleOf } from "./IntervalChart.tsx";
import { SortHeader } from "./SortHeader.tsx";

const ORDERS: Order[] = ["verdict", "case", "change", "q"];

export function CaseTable({ cases, pictures }: { cases: CaseResult[]; pictures: Pictures }) {
  const [order, setOrder] = useState<Order>("verdict");
  const [reversed, setReversed] = useState(false);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Word | null>(null);
  if (cases.length === 0) {
    return null;
  }
  const wanted = name.trim().toLowerCase();
  const shown = sorted(cases, order, reversed).filter(
    (result) => (chosen === null || word(result) === chosen) && isNamed(result, wanted),
  );
  const metrics = new Set(cases.flatMap((result) => deciding(result)?.metric ?? []));
  const scale = scaleOf(cases.flatMap((result) => deciding(result) ?? []));
  const sort = (by: Order) => {
    setReversed(by === order && !reversed);
    setOrder(by);
  };
  const header = { order, reversed, sort };
  return (
    <section>
      <CaseFilter cases={cases} name={name} setName={setName} chosen={chosen} setChosen={setChosen} />
      <label class="phone">
        sort by{" "}
        <select value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
          {ORDERS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <table class="cases">
        {metrics.size === 1 && <caption class="quiet">change of {metricLabel([...metrics].join())}</caption>}
        <thead>
          <tr>
            <SortHeader by="case" {...header} />
            <SortHeader by="verdict" {...header} />
            <SortHeader by="change" class="number" {...header} />
            <th scope="col">interval</th>
            <th scope="col" class="number">
              base → head
            </th>
            <SortHeader by="q" class="number" {...header} />
          </tr>
        </thead>
        <tbody>
          {shown.map((result) => (
            <CaseRow
              key={result.case}
              result={result}
              pictures={pictures[result.case] ?? null}
              scale={scale}
              named={metrics.size > 1}
            />
          ))}
        </tbody>
      </table>
      {shown.length < cases.length && (
        <p class="quiet" role="status">
          {counted(shown.length, "case", "cases")} of {cases.length} shown
        </p>
      )}
    </section>
  );
}

function isNamed(result: CaseResult, wanted: string): boolean {
  return [result.case, result.group, ...result.commands].some((text) => text.toLowerCase().includes(wanted));
}
