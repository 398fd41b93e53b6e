/** Where the instructions of a request go, the mean over all cases: by kind of work, and by function. */

import { useState } from "preact/hooks";
import { change, count, share } from "../../core/numbers.ts";
import type {
  ListedOpportunities,
  OpportunityList,
  WeighedCategory,
  WeighedFunction,
} from "../../core/records.ts";
import { caseUrl, functionStacksUrl } from "./opportunities.ts";

const SHOWN_FIRST = 15;

interface Properties {
  list: OpportunityList;
  document: ListedOpportunities;
}

export function Costs({ list, document }: Properties) {
  const { categories, functions, cases } = document;
  const sampled = Object.values(list.sampled);
  // All cases of a result are merged.
  const of = sampled.find((id) => id === list.result?.id) ?? null;
  return (
    <>
      <h2>Where the instructions go</h2>
      <Categories categories={categories} />
      <h2>Functions that cost most over all cases</h2>
      <Functions functions={functions} of={of} cases={cases.length} />
      <details>
        <summary>What each case counts, and what all opportunities together would bring for it</summary>
        <WeighedCases document={document} />
      </details>
    </>
  );
}

function Categories({ categories }: { categories: readonly WeighedCategory[] }) {
  const most = Math.max(...categories.map((of) => of.share), 0);
  return (
    <table class="shares">
      <caption class="sr">Parts of the instructions by kind of work</caption>
      <thead class="sr">
        <tr>
          <th scope="col">work</th>
          <th scope="col">of all</th>
        </tr>
      </thead>
      <tbody>
        {categories.map((of) => (
          <tr key={of.category}>
            <th scope="row">{of.category}</th>
            <td class="number">
              <span>{share(of.share)}</span>
              <span class="share-bar" aria-hidden="true">
                <span style={{ width: `${most > 0 ? (100 * of.share) / most : 0}%` }} />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FunctionProperties {
  functions: readonly WeighedFunction[];
  /** The comparison or run that has sampled stacks. */
  of: string | null;
  cases: number;
}

function Functions({ functions, of, cases }: FunctionProperties) {
  const [number, setNumber] = useState(SHOWN_FIRST);
  const shown = functions.slice(0, number);
  return (
    <div class="wide">
      <table class="functions">
        <thead>
          <tr>
            <th scope="col">function</th>
            <th scope="col" class="number">
              itself
            </th>
            <th scope="col" class="number">
              with calls
            </th>
            <th scope="col" class="number">
              over 1 % in
            </th>
            <th scope="col" class="work">
              work
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((entry) => (
            <tr key={`${entry.function} ${entry.file}`}>
              <th scope="row">
                <code>
                  {of === null ? (
                    entry.function
                  ) : (
                    <a href={functionStacksUrl(of, null, entry)}>{entry.function}</a>
                  )}
                </code>{" "}
                <span class="quiet small">{entry.file}</span>
              </th>
              <td class="number">{share(entry.self_share)}</td>
              <td class="number">{share(entry.share)}</td>
              <td class="number">
                {entry.cases} of {cases}
              </td>
              <td class="work">{entry.category}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < functions.length && (
        <button type="button" class="choice" onClick={() => setNumber(functions.length)}>
          show all {functions.length}
        </button>
      )}
    </div>
  );
}

function WeighedCases({ document: { cases } }: { document: ListedOpportunities }) {
  return (
    <div class="wide">
      <table class="functions">
        <thead>
          <tr>
            <th scope="col">case</th>
            <th scope="col" class="number">
              weight
            </th>
            <th scope="col" class="number">
              instructions per request
            </th>
            <th scope="col" class="number">
              throughput
            </th>
          </tr>
        </thead>
        <tbody>
          {cases.map((of) => (
            <tr key={of.case}>
              <th scope="row">
                <a href={caseUrl(of.result, of.case)}>{of.case}</a>{" "}
                <span class="quiet small">{of.commands.join(", ")}</span>
              </th>
              <td class="number">{share(of.weight)}</td>
              <td class="number">{count(of.instructions_per_op)}</td>
              <td class="number">{change(of.gain)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
