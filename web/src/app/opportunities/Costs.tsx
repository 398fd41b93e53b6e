/** Where the instructions of a request go, the mean over all cases: by kind of work, and by function. */

import { useState } from "preact/hooks";
import type {
  ListedOpportunities,
  OpportunityList,
  Section,
  Sheet,
  WeighedCategory,
} from "../../core/records.ts";
import { SheetSection } from "../../core/Sheet.tsx";
import { functionStacksUrl } from "./opportunities.ts";

const SHOWN_FIRST = 15;

interface Properties {
  list: OpportunityList;
  document: ListedOpportunities;
  sheet: Sheet;
}

export function Costs({ list, document, sheet }: Properties) {
  return (
    <>
      {sheet.sections.map((section) => {
        switch (section.key) {
          case "categories":
            return <Categories key={section.key} section={section} categories={document.categories} />;
          case "functions":
            return <Functions key={section.key} section={section} list={list} document={document} />;
          case "cases":
            return <SheetSection key={section.key} section={section} level={2} />;
          default:
            return null;
        }
      })}
    </>
  );
}

/** The table of categories, with a bar beside each part. */
function Categories({ section, categories }: { section: Section; categories: readonly WeighedCategory[] }) {
  const most = Math.max(...categories.map((of) => of.share), 0);
  return (
    <>
      <h2>{section.title}</h2>
      {section.tables.map(({ key, columns, rows }) => (
        <table key={key} class="shares">
          <caption class="sr">Parts of the instructions by kind of work</caption>
          <thead class="sr">
            <tr>
              {columns.map((column) => (
                <th key={column.key} scope="col">
                  {column.heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {categories.map((of, place) => (
              <tr key={of.category}>
                <th scope="row">{of.category}</th>
                <td class="number">
                  <span>{rows[place]?.[1]?.text}</span>
                  <span class="share-bar" aria-hidden="true">
                    <span style={{ width: `${most > 0 ? (100 * of.share) / most : 0}%` }} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </>
  );
}

interface FunctionProperties {
  section: Section;
  list: OpportunityList;
  document: ListedOpportunities;
}

/** The functions, each of which leads to the merged stacks of the comparison or run where there are any. */
function Functions({ section, list, document: { functions } }: FunctionProperties) {
  const [number, setNumber] = useState(SHOWN_FIRST);
  const of = Object.values(list.sampled).find((id) => id === list.result?.id) ?? null;
  const tables = section.tables.map((table) => ({
    ...table,
    rows: table.rows.slice(0, number).map((cells, place) => {
      const named = functions[place];
      const link = of === null || named === undefined ? null : functionStacksUrl(of, null, named);
      return cells.map((cell, index) => (index === 0 ? { ...cell, link } : cell));
    }),
  }));
  return (
    <>
      <SheetSection section={{ ...section, tables }} level={2} />
      {number < functions.length && (
        <button type="button" class="choice" onClick={() => setNumber(functions.length)}>
          show all {functions.length}
        </button>
      )}
    </>
  );
}
