import { useState } from "preact/hooks";
import type { CaseResult } from "../document.ts";
import type { Pictures } from "../pictures.ts";
import { deciding, isNamed, metricLabel, type Order, sorted, WORDS, type Word, word } from "../reading.ts";
import { CaseFilter } from "./CaseFilter.tsx";
import { CaseRow } from "./CaseRow.tsx";
import { scaleOf } from "./IntervalChart.tsx";
import { useOrder } from "./ordering.ts";
import { PhoneOrder } from "./PhoneOrder.tsx";
import { Shown } from "./Shown.tsx";
import { SortHeader } from "./SortHeader.tsx";

const ORDERS = (["verdict", "case", "change", "q"] as const).map((order) => [order, order] as const);

export function CaseTable({ cases, pictures }: { cases: CaseResult[]; pictures: Pictures }) {
  const header = useOrder<Order>("verdict");
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Word | null>(null);
  if (cases.length === 0) {
    return null;
  }
  const shown = sorted(cases, header.order, header.reversed).filter(
    (result) => (chosen === null || word(result) === chosen) && isNamed(result, name),
  );
  const metrics = new Set(cases.flatMap((result) => deciding(result)?.metric ?? []));
  const scale = scaleOf(cases.flatMap((result) => deciding(result) ?? []));
  return (
    <section>
      <CaseFilter words={WORDS} found={cases.map(word)} {...{ name, setName, chosen, setChosen }} />
      <PhoneOrder orders={ORDERS} order={header.order} sort={header.sort} />
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
      <Shown shown={shown.length} all={cases.length} />
    </section>
  );
}
