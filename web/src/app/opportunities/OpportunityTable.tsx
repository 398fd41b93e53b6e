/** The opportunities of a version, each of which opens for its cases. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { byName, usePrinting } from "../../core/cases/CaseList.tsx";
import { Figure, Sentence } from "../../core/cases/facts.tsx";
import { count, counted } from "../../core/numbers.ts";
import type {
  ListedOpportunities,
  ListedOpportunity,
  OpportunityCase,
  OpportunityList,
} from "../../core/records.ts";
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
  gainText,
  isAllLeft,
  knownEditsInShort,
  knownEditsText,
  savedTexts,
  savingText,
  valuesOf,
} from "./opportunities.ts";

const SHOWN_LINES = 3;

interface Properties {
  list: OpportunityList;
  document: ListedOpportunities;
  parameters: URLSearchParams;
}

export function OpportunityTable({ list, document, parameters }: Properties) {
  const all = document.opportunities;
  const shown = filtered(all, filterOf(parameters));
  if (all.length === 0) {
    return null;
  }
  return (
    <>
      <Filters opportunities={all} parameters={parameters} />
      <table class="cases opportunities">
        <caption class="sr">Opportunities, those that save most first</caption>
        <colgroup>
          <col />
          <col class="column-saves" />
          <col class="column-left" />
          <col class="column-kind" />
          <col class="column-confidence" />
          <col class="column-cases" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">where</th>
            <th scope="col">saves</th>
            <th scope="col" title="What is left of it once those before are done, which share code with it">
              after those before
            </th>
            <th scope="col">kind</th>
            <th scope="col">confidence</th>
            <th scope="col" class="number">
              cases
            </th>
          </tr>
        </thead>
        {shown.map((of) => (
          <Row
            key={`${of.detector} ${of.function} ${of.file}`}
            of={of}
            list={list}
            document={document}
            parameters={parameters}
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

function Row({ of, list, document, parameters }: Properties & { of: ListedOpportunity }) {
  const [open, setOpen] = useState(false);
  const printing = usePrinting();
  const lines = of.cases[0]?.lines ?? [];
  const texts = savedTexts(of);
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
        <td class="saves">
          <span class="phone quiet">saves </span>
          <b class="number">{texts.saved}</b> <span class="number quiet small">{texts.bounds}</span>
          <div class="quiet small" title={knownEditsText(of.calibration)}>
            {knownEditsInShort(of.calibration)}
          </div>
        </td>
        <td class={isAllLeft(of) ? "all-left" : undefined}>
          <span class="phone quiet">after those before </span>
          {texts.left}
        </td>
        <td>
          <DetectorLink name={of.detector} />
          <div class="quiet small">{of.category}</div>
        </td>
        <td>
          {of.is_refuted ? "refuted" : of.confidence}
          {!of.is_refuted && <span class="phone"> confidence</span>}
        </td>
        <td class="number">
          {of.all_cases} of {document.cases.length}
          <span class="phone"> cases</span>
        </td>
      </tr>
      {(open || printing) && (
        <tr class="details">
          <td colSpan={6}>
            <Cases of={of} list={list} document={document} parameters={parameters} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

export function DetectorLink({ name }: { name: string }) {
  const url = detectorUrl(name);
  return url === null ? <span>{name}</span> : <a href={url}>{name}</a>;
}

/** The cases of an opportunity, those where it saves most first; the others are fetched when they are asked for. */
function Cases({ of, list, document, parameters }: Properties & { of: ListedOpportunity }) {
  const [all, setAll] = useState(false);
  const results = new Map(document.cases.map(({ case: name, result }) => [name, result]));
  const shown = (cases: readonly OpportunityCase[]) => (
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
        <DetectorLink name={of.detector} />: {knownEditsText(of.calibration)}
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
  shown: (cases: readonly OpportunityCase[]) => ComponentChildren;
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
  entry: OpportunityCase;
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
        {savingText(entry)}; {gainText(entry)}
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
