import { useEffect, useState } from "preact/hooks";
import { Notes } from "../../core/cases/facts.tsx";
import { counted } from "../../core/numbers.ts";
import type {
  ListedOpportunities,
  OpportunityList,
  ProfiledResult,
  Sheet as SheetRecord,
} from "../../core/records.ts";
import { SheetSection } from "../../core/Sheet.tsx";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { setParameters } from "../navigation.ts";
import { opportunitiesQuery, WHOLE_OPPORTUNITIES } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { Costs } from "./Costs.tsx";
import { DetectorLink, OpportunityTable } from "./OpportunityTable.tsx";
import "./opportunities.css";

const AGAIN_AFTER_MS = 6_000;

/** What to optimise next in a version, over all cases that were counted of it. */
export default function OpportunitiesPage({ parameters }: PageProps) {
  const [isWaiting, setIsWaiting] = useState(false);
  const answer = useAnswer<OpportunityList>(
    opportunitiesQuery(parameters),
    isWaiting ? AGAIN_AFTER_MS : undefined,
  );
  const waiting = answer.data?.waiting_cases.length ?? 0;
  useEffect(() => setIsWaiting(waiting > 0), [waiting]);
  return (
    <>
      <h1>Opportunities</h1>
      <Answered answer={answer}>
        {(list) =>
          list.document === null || list.result === null || list.sheet === null ? (
            <NothingCounted />
          ) : (
            <Shown
              list={list}
              document={list.document}
              sheet={list.sheet}
              result={list.result}
              parameters={parameters}
            />
          )
        }
      </Answered>
      {answer.fault?.status === 404 && (
        <p>
          <a href="/opportunities">The newest comparison or run that was counted</a>
        </p>
      )}
    </>
  );
}

function NothingCounted() {
  return (
    <>
      <p>
        No comparison or run of this lab has call graphs yet. Opportunities are found in what counting leaves
        there:
      </p>
      <pre>zerolap run --engine counted</pre>
      <pre>zerolap compare HEAD~1 HEAD --repo ~/redis</pre>
    </>
  );
}

interface SubjectProperties {
  list: OpportunityList;
  document: ListedOpportunities;
  result: ProfiledResult;
  parameters: URLSearchParams;
}

function Shown({ sheet, ...of }: SubjectProperties & { sheet: SheetRecord }) {
  const { list, document, parameters } = of;
  const { waiting_cases: waiting, counted_cases: all } = list;
  const listed = document.opportunities.length;
  const variants = sheet.sections.find(({ key }) => key === "variants");
  return (
    <>
      <Subject {...of} />
      <p class="strong">{sheet.title}</p>
      <p class="quiet small">
        Opportunities are found in call graphs; nothing is measured. What each saves is a part of the
        instructions of a request, the mean over all cases, with the bounds that it is expected in. The next
        is what saves most once those before it are done.
      </p>
      <details class="small">
        <summary>Looked for by {counted(document.detectors.length, "detector", "detectors")}</summary>
        {document.detectors.map((name, place) => (
          <span key={name}>
            {place > 0 && ", "}
            <DetectorLink name={name} />
          </span>
        ))}
      </details>
      {waiting.length > 0 && (
        <p class="warning" role="status">
          {counted(waiting.length, "case", "cases")} of {all} not shown yet: the call graphs are being looked
          through.
        </p>
      )}
      <Notes notes={sheet.notes} />
      <OpportunityTable
        list={list}
        document={document}
        table={sheet.tables.find(({ key }) => key === "opportunities")}
        parameters={parameters}
      />
      {listed < document.all_opportunities && (
        <p class="note">
          The first {listed} of {counted(document.all_opportunities, "opportunity", "opportunities")} are
          listed; the JSON of <code>zerolap opportunities</code> has all.
        </p>
      )}
      {variants !== undefined && (
        <>
          <SheetSection section={variants} level={2} />
          <p class="quiet small">
            <DetectorLink name="build-variants" />: measured by comparisons, not predicted. The gain is the
            mean over all commands that were timed.
          </p>
        </>
      )}
      <Costs list={list} document={document} sheet={sheet} />
      <p class="quiet small">
        <a href={opportunitiesQuery(parameters)}>JSON</a>{" "}
        <a href={opportunitiesQuery(parameters, "opportunities.csv", WHOLE_OPPORTUNITIES)} download>
          CSV
        </a>
      </p>
    </>
  );
}

const WEIGHTINGS = {
  command: "each command alike",
  equal: "each case alike",
  priority: "priority of the suite",
};

/** Which version it is, and the choice of others. */
function Subject({ list: { newest, side, weightings }, result, document, parameters }: SubjectProperties) {
  const listed = newest.some(({ id }) => id === result.id) ? newest : [result, ...newest];
  const { server, platform, results } = document;
  const others = results.length - (results.includes(result.id) ? 1 : 0);
  return (
    <>
      <p>
        <b>{server.name}</b>
        {!["", server.name].includes(server.version) && ` ${server.version}`}, the{" "}
        {result.base === null ? "server" : side} of <a href={`/${result.path}/${result.id}`}>{result.id}</a>
        {others > 0 && `, counted in ${counted(others, "other result", "other results")} too`}, on{" "}
        {platform.name}
      </p>
      <div class="filter version">
        <label>
          of{" "}
          <select
            value={result.id}
            onChange={(event) => setParameters({ id: event.currentTarget.value, side: null })}
          >
            {listed.map((other) => (
              <option key={other.id} value={other.id}>
                {optionText(other)}
              </option>
            ))}
          </select>
        </label>
        {result.base !== null && (
          <label>
            side{" "}
            <select value={side} onChange={(event) => setParameters({ side: event.currentTarget.value })}>
              <option>head</option>
              <option>base</option>
            </select>
          </label>
        )}
        <label title="How much each case counts">
          weights{" "}
          <select
            value={parameters.get("weights") ?? "command"}
            onChange={(event) => setParameters({ weights: event.currentTarget.value })}
          >
            {weightings.map((weighting) => (
              <option key={weighting} value={weighting}>
                {WEIGHTINGS[weighting]}
              </option>
            ))}
          </select>
        </label>
        <label class="ticked" title="Cases of the same build in all comparisons and runs">
          <input
            type="checkbox"
            checked={parameters.get("everywhere") === "true"}
            onChange={(event) => setParameters({ everywhere: event.currentTarget.checked ? "true" : null })}
          />{" "}
          from all results of this build
        </label>
      </div>
    </>
  );
}

function optionText({ id, created, base, head }: ProfiledResult): string {
  return `${created.slice(0, 16).replace("T", " ")} ${base === null ? head : `${base} → ${head}`} (${id.slice(0, 10)})`;
}
