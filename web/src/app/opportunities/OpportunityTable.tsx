/** The opportunities of a version, each of which opens for its cases. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { byName, usePrinting } from "../../core/cases/CaseList.tsx";
import { Figure, Sentence } from "../../core/cases/facts.tsx";
import { count, counted } from "../../core/numbers.ts";
import type {
  Cell,
  Column,
  ListedOpportunities,
  ListedOpportunity,
  ListedOpportunityCase,
  OpportunityList,
  Table,
} from "../../core/records.ts";
import { Marked } from "../../core/Sheet.tsx";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { detectorUrl } from "../detectors/documents.ts";
import { setParameters } from "../navigation.ts";
import { opportunitiesQuery, WHOLE_OPPORTUNITIES } from "../pageQueries.ts";
import {
  caseUrl,
  evidenceName,
  FILTERS,
  filtered,
  filterOf,
  functionStacksUrl,
  valuesOf,
} from "./opportunities.ts";

const SHOWN_LINES = 3;

/** The columns that are shown as one: where an opportunity lies. */
const WHERE = ["rank", "function", "file"];

interface Properties {
  list: OpportunityList;
  document: ListedOpportunities;
  parameters: URLSearchParams;
}

export function OpportunityTable({ table, ...of }: Properties & { table: Table | undefined }) {
  const { document, parameters } = of;
  const all = document.opportunities;
  const shown = filtered(all, filterOf(parameters));
  if (table === undefined) {
    return null;
  }
  const columns = table.columns.map((column, place) => ({ ...column, place }));
  const others = columns.filter(({ key }) => !WHERE.includes(key));
  return (
    <>
      <Filters opportunities={all} parameters={parameters} />
      <table class="cases opportunities">
        <caption class="sr">Opportunities, those that save most first</caption>
        <colgroup>
          <col />
          {others.map(({ key }) => (
            <col key={key} class={`column-${key}`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th scope="col">where</th>
            {others.map(({ key, heading }) => (
              <th key={key} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        {shown.map((opportunity) => (
          <Row
            key={`${opportunity.detector} ${opportunity.function} ${opportunity.file}`}
            of={opportunity}
            cells={table.rows[all.indexOf(opportunity)] ?? []}
            columns={others}
            {...of}
          />
        ))}
      </table>
      {shown.length < all.length && (
        <p class="quiet" role="status">
          {shown.length} of {counted(all.length, "opportunity", "opportunities")} shown
        </p>
      )}
    </>
  );
}

function Filters({
  opportunities,
  parameters,
}: {
  opportunities: readonly ListedOpportunity[];
  parameters: URLSearchParams;
}) {
  const filter = filterOf(parameters);
  return (
    <search class="filter">
      {FILTERS.map((name) => {
        const values = new Set(opportunities.flatMap((of) => valuesOf(of, name)));
        // One that the address names is shown though nothing has it.
        const listed = [...values.add(filter[name])].filter((value) => value !== "").sort(byName);
        return (
          <select
            key={name}
            aria-label={`Filter by ${name}`}
            value={filter[name]}
            onChange={(event) => setParameters({ [name]: event.currentTarget.value })}
          >
            <option value="">any {name}</option>
            {listed.map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        );
      })}
    </search>
  );
}

interface RowProperties extends Properties {
  of: ListedOpportunity;
  cells: readonly Cell[];
  columns: readonly (Column & { place: number })[];
}

function Row({ of, cells, columns, ...properties }: RowProperties) {
  const [open, setOpen] = useState(false);
  const printing = usePrinting();
  const lines = of.cases[0]?.lines ?? [];
  return (
    <tbody>
      <tr class="case">
        <th scope="row">
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
            <span class="arrow" aria-hidden="true">
              {open ? "▾" : "▸"}
            </span>
            {of.rank}. <code>{of.function}</code>
          </button>
          <div class="quiet small place">{lines.length === 0 ? of.file : linesText(lines, SHOWN_LINES)}</div>
        </th>
        {columns.map(({ key, heading, place }) => (
          <td key={key}>
            <span class="phone quiet">{heading} </span>
            {key === "kind" ? <Kind of={of} /> : <Figures cell={cells[place]} />}
          </td>
        ))}
      </tr>
      {(open || printing) && (
        <tr class="details">
          <td colSpan={columns.length + 1}>
            <Cases of={of} {...properties} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Kind({ of }: { of: ListedOpportunity }) {
  return (
    <>
      <DetectorLink name={of.detector} />
      <div class="quiet small">{of.category}</div>
    </>
  );
}

function Figures({ cell }: { cell: Cell | undefined }) {
  return cell === undefined ? null : <Marked {...cell} />;
}

export function DetectorLink({ name }: { name: string }) {
  const url = detectorUrl(name);
  return url === null ? <span>{name}</span> : <a href={url}>{name}</a>;
}

/** The cases of an opportunity, those where it saves most first; the others are fetched when they are asked for. */
function Cases({ of, list, document, parameters }: Properties & { of: ListedOpportunity }) {
  const [all, setAll] = useState(false);
  const results = new Map(document.cases.map(({ case: name, result }) => [name, result]));
  const shown = (cases: readonly ListedOpportunityCase[]) => (
    <ol class="plain-list">
      {cases.map((entry) => (
        <CaseItem
          key={entry.case}
          of={of}
          entry={entry}
          result={results.get(entry.case) ?? null}
          sampled={list.sampled[entry.case] ?? null}
        />
      ))}
    </ol>
  );
  if (all) {
    return <AllCases of={of} parameters={parameters} shown={shown} />;
  }
  return (
    <div class="detail">
      <p class="small">
        <DetectorLink name={of.detector} />: {of.tested}
      </p>
      {shown(of.cases)}
      {of.cases.length < of.all_cases && (
        <button type="button" class="choice" onClick={() => setAll(true)}>
          show all {counted(of.all_cases, "case", "cases")}
        </button>
      )}
    </div>
  );
}

function AllCases({
  of,
  parameters,
  shown,
}: {
  of: ListedOpportunity;
  parameters: URLSearchParams;
  shown: (cases: readonly ListedOpportunityCase[]) => ComponentChildren;
}) {
  const { detector, function: named, file } = of;
  const only = { detector, function: named, file };
  const url = opportunitiesQuery(parameters, "opportunities", { ...only, ...WHOLE_OPPORTUNITIES });
  return (
    <div class="detail">
      <Answered answer={useAnswer<OpportunityList>(url)}>
        {({ document }) => shown(document?.opportunities[0]?.cases ?? of.cases)}
      </Answered>
    </div>
  );
}

interface CaseProperties {
  of: ListedOpportunity;
  entry: ListedOpportunityCase;
  /** The comparison or run in which the case was counted. */
  result: string | null;
  /** That in which its stacks were sampled. */
  sampled: string | null;
}

function CaseItem({ of, entry, result, sampled }: CaseProperties) {
  const { case: name, lines, frames } = entry;
  return (
    <li class="opportunity-case">
      <p>
        <b>{result === null ? name : <a href={caseUrl(result, name)}>{name}</a>}</b>{" "}
        <span class="quiet small">{entry.commands.join(", ")}</span>
      </p>
      <p>
        {entry.saving} <span class="quiet small">{entry.bounds}</span>
      </p>
      <p>
        <code>{of.function}</code> <Sentence text={entry.text} />
      </p>
      <dl class="facts small">
        {frames.length > 0 && (
          <>
            <dt>way</dt>
            <dd>
              <code>{frames.join(" > ")}</code>
            </dd>
          </>
        )}
        {lines.length > 0 && (
          <>
            <dt>lines</dt>
            <dd>
              <code>{linesText(lines, lines.length)}</code>
            </dd>
          </>
        )}
      </dl>
      <dl class="figures small">
        {Object.entries(entry.evidence).map(([figure, value]) => (
          <Figure key={figure} name={evidenceName(figure)} value={count(value)} />
        ))}
      </dl>
      {sampled !== null && (
        <p class="small">
          <a href={functionStacksUrl(sampled, name, of)}>Sampled stacks with this function</a>
        </p>
      )}
    </li>
  );
}

function linesText(lines: readonly string[], most: number): string {
  const more = lines.length > most ? ` and ${lines.length - most} more` : "";
  return `${lines.slice(0, most).join(", ")}${more}`;
}
