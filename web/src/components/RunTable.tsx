import { useState } from "preact/hooks";
import type { Pictures } from "../pictures.ts";
import { isNamed } from "../reading.ts";
import type { RunCase } from "../run-document.ts";
import {
  measuredColumns,
  RUN_WORDS,
  type RunOrder,
  type RunWord,
  runWord,
  sortedRun,
} from "../run-reading.ts";
import { CaseFilter } from "./CaseFilter.tsx";
import { useOrder } from "./ordering.ts";
import { PhoneOrder } from "./PhoneOrder.tsx";
import { RunRow } from "./RunRow.tsx";
import { Shown } from "./Shown.tsx";
import { SortHeader } from "./SortHeader.tsx";

export function RunTable({ cases, pictures }: { cases: RunCase[]; pictures: Pictures }) {
  const header = useOrder<RunOrder>("case");
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<RunWord | null>(null);
  if (cases.length === 0) {
    return null;
  }
  const columns = measuredColumns(cases);
  const shown = sortedRun(cases, header.order, header.reversed).filter(
    (one) => (chosen === null || runWord(one) === chosen) && isNamed(one, name),
  );
  const orders: [RunOrder, string][] = [
    ["case", "case"],
    ["group", "group"],
    ...columns.map(({ metric, heading }): [RunOrder, string] => [metric, heading]),
  ];
  return (
    <section>
      <CaseFilter words={RUN_WORDS} found={cases.map(runWord)} {...{ name, setName, chosen, setChosen }} />
      <PhoneOrder orders={orders} order={header.order} sort={header.sort} />
      <table class="cases">
        <thead>
          <tr>
            <SortHeader by="case" {...header} />
            <SortHeader by="group" {...header} />
            {columns.map(({ metric, heading }) => (
              <SortHeader key={metric} by={metric} shown={heading} class="number" {...header} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <RunRow
              key={one.case}
              measured={one}
              columns={columns}
              pictures={pictures[one.case] ?? null}
              openAtFirst={cases.length === 1}
            />
          ))}
        </tbody>
      </table>
      <Shown shown={shown.length} all={cases.length} />
    </section>
  );
}
