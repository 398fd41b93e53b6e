import { Choice } from "../../core/flame/StackPanel.tsx";
import { counted } from "../../core/numbers.ts";
import type { ProfiledResult, StackFunctions, StackProfile, StackResults } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { HeadSubject } from "../changes/CommitSubject.tsx";
import { setParameters } from "../navigation.ts";
import { STACK_RESULTS, stacksQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { FunctionMap } from "./FunctionMap.tsx";
import { ProfileView } from "./ProfileView.tsx";
import { type Selection, selectionOf, stacksUrl } from "./selection.ts";
import "./stacks.css";

/** Where the CPU time goes: of a case, of all cases of a result, or over the newest results. */
export default function StacksPage({ parameters }: PageProps) {
  const selection = selectionOf(parameters);
  return (
    <>
      <h1>Stacks</h1>
      {selection === null ? (
        <Results />
      ) : (
        <Selected
          selection={selection}
          isMap={parameters.get("show") === "functions"}
          query={stacksQuery(parameters)}
          chosen={parameters.get("function")}
        />
      )}
    </>
  );
}

const NEWEST = "10";

/** What there are stacks of. */
function Results() {
  const answer = useAnswer<StackResults>(STACK_RESULTS);
  return (
    <Answered answer={answer}>
      {({ results }) => (results.length === 0 ? <NoStacks /> : <ResultList results={results} />)}
    </Answered>
  );
}

function NoStacks() {
  return (
    <>
      <p>
        No comparison or run of this lab has sampled stacks. They are recorded by perf, in passes of their
        own, of the cases that changed or of all:
      </p>
      <pre>zerolap compare HEAD~1 HEAD --repo ~/redis --stacks all</pre>
      <pre>zerolap run --engine timed,sampled</pre>
    </>
  );
}

function ResultList({ results }: StackResults) {
  const platforms = new Map(results.map((entry) => [entry.platform, entry.result.platform_name]));
  return (
    <>
      <p>
        Stacks show which functions had the processor, at how many moments. They are of a case, or of several
        cases merged.
      </p>
      <h2>Over all benchmarks</h2>
      <ul>
        {[...platforms].map(([platform, name]) => (
          <li key={platform}>
            <a href={stacksUrl({ platform, newest: NEWEST })}>
              the newest results on {name === "" ? platform : name}
            </a>
            , merged;{" "}
            <a href={`${stacksUrl({ platform, newest: NEWEST })}&show=functions`}>
              which functions cost most
            </a>
          </li>
        ))}
      </ul>
      <h2>Comparisons and runs with stacks</h2>
      <div class="wide">
        <table class="reports">
          <thead>
            <tr>
              <th scope="col">created (UTC)</th>
              <th scope="col">result</th>
              <th scope="col">of</th>
              <th scope="col">platform</th>
              <th scope="col">cases with stacks</th>
            </tr>
          </thead>
          <tbody>
            {results.map(({ result, cases, all_cases, head_commit }) => (
              <tr key={result.id}>
                <td>{result.created.slice(0, 16).replace("T", " ")}</td>
                <th scope="row">
                  <a href={stacksUrl({ id: result.id })}>{result.id}</a>
                </th>
                <td>
                  <code class="number">{sidesText(result)}</code>
                  <HeadSubject commit={head_commit} />
                </td>
                <td>{result.platform_name}</td>
                <td class="small">
                  {cases.slice(0, 12).map((name, place) => (
                    <span key={name}>
                      {place > 0 && ", "}
                      <a href={stacksUrl({ id: result.id, case: name })}>{name}</a>
                    </span>
                  ))}
                  {all_cases > 12 && ` and ${all_cases - 12} more`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface SelectedProperties {
  selection: Selection;
  isMap: boolean;
  query: string;
  chosen: string | null;
}

function Selected({ isMap, ...shown }: SelectedProperties) {
  return isMap ? <SelectedMap {...shown} /> : <SelectedGraph {...shown} />;
}

function SelectedMap({ selection, query }: Omit<SelectedProperties, "isMap">) {
  return (
    <Answered answer={useAnswer<StackFunctions>(query)}>
      {(answer) => (
        <>
          <Subject answer={answer} selection={selection} isMap />
          <FunctionMap answer={answer} selection={selection} />
        </>
      )}
    </Answered>
  );
}

function SelectedGraph({ selection, query, chosen }: Omit<SelectedProperties, "isMap">) {
  return (
    <Answered answer={useAnswer<StackProfile>(query)}>
      {(answer) => (
        <>
          <Subject answer={answer} selection={selection} isMap={false} />
          <ProfileView profile={answer} selection={selection} chosen={chosen} />
        </>
      )}
    </Answered>
  );
}

interface SubjectProperties {
  answer: StackProfile | StackFunctions;
  selection: Selection;
  isMap: boolean;
}

const TIMES = { cpu: "CPU time", waits: "waits" };
const SHOWN = ["graph", "functions by case"] as const;

/** What the stacks are of, and the choice of others. */
function Subject({ answer, selection, isMap }: SubjectProperties) {
  const [first] = answer.results;
  const isMerged = answer.cases.length > 1;
  const change = (changes: Record<string, string | null>) => setParameters({ ...changes, function: null });
  return (
    <>
      <p>
        {selection.id !== null && first !== undefined ? (
          <>
            <a href={`/${first.path}/${first.id}`}>{first.id}</a>, {sidesText(first)}
          </>
        ) : (
          `The head of ${newestText(answer.results.length, selection)}${selection.platform === null ? "" : ` on ${first?.platform_name || `the platform ${selection.platform}`}`}`
        )}{" "}
        · <a href="/stacks">other stacks</a> ·{" "}
        <a href={selection.id === null ? "/opportunities" : `/opportunities?id=${selection.id}`}>
          opportunities
        </a>
      </p>
      <div class="filter">
        <label>
          case{" "}
          <select
            value={selection.case ?? ""}
            onChange={(event) => change({ case: event.currentTarget.value })}
          >
            <option value="">
              {answer.all_cases.length > 1 ? `all ${answer.all_cases.length} merged` : "all"}
            </option>
            {answer.all_cases.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {isMerged && selection.time === "cpu" && (
          <label title="How much each case counts in what is merged">
            weights{" "}
            <select
              value={answer.weights}
              onChange={(event) => change({ weights: event.currentTarget.value })}
            >
              <option value="time">CPU time of a request</option>
              <option value="case">each case alike</option>
            </select>
          </label>
        )}
        {"times" in answer && (answer.times.length > 1 || answer.time === "waits") && (
          <Choice
            label="Time"
            values={answer.times.map((time) => TIMES[time])}
            chosen={TIMES[answer.time]}
            choose={(value) => change({ time: value === TIMES.cpu ? null : "waits" })}
          />
        )}
        {selection.time === "cpu" && (
          <Choice
            label="Shown"
            values={SHOWN}
            chosen={isMap ? SHOWN[1] : SHOWN[0]}
            choose={(value) => change({ show: value === SHOWN[0] ? null : "functions" })}
          />
        )}
      </div>
      {isMerged && selection.time === "cpu" && selection.weights === "time" && answer.weights === "case" && (
        <p class="quiet small">No case was timed: all cases count the same.</p>
      )}
    </>
  );
}

/** How many results there are, of those that were asked for. */
function newestText(results: number, { newest }: Selection): string {
  const asked = Number(newest ?? NEWEST);
  return results < asked
    ? `${counted(results, "result", "results")}, all that have stacks,`
    : `the newest ${counted(results, "result that has", "results that have")} stacks`;
}

function sidesText({ base, head }: ProfiledResult): string {
  return base === null ? head : `${base} → ${head}`;
}
