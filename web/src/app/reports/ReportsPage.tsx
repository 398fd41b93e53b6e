import { useEffect, useState } from "preact/hooks";
import type { ReportList } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { setParameters } from "../navigation.ts";
import { reportsQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { ReportTable } from "./ReportTable.tsx";

const ASKED_AFTER_MS = 250;
const STATES = ["waiting", "running", "done", "interrupted", "failed", "cancelled", "superseded"];
const KINDS = [
  ["compare", "comparisons"],
  ["run", "runs"],
  ["snapshot", "sweeps of snapshots"],
  ["check", "checks of cases"],
] as const;

/** All requests with what became of them, the newest first: filtered, and page by page. */
export default function ReportsPage({ parameters }: PageProps) {
  const text = parameters.get("text") ?? "";
  const filter = {
    text,
    state: parameters.get("state") ?? "",
    platform: parameters.get("platform") ?? "",
    kind: parameters.get("kind") ?? "",
  };
  const before = parameters.get("before") ?? "";
  const answer = useAnswer<ReportList>(reportsQuery(parameters));
  const choose = (changes: Record<string, string>) => setParameters({ ...changes, before: null });
  return (
    <>
      <h1>Comparisons, runs, sweeps and checks</h1>
      <search class="filter">
        <TextFilter text={text} onText={(written) => choose({ text: written })} />
        <Choice name="kind" any="all kinds" value={filter.kind} values={KINDS} choose={choose} />
        <Choice
          name="state"
          any="any state"
          value={filter.state}
          values={STATES.map((state) => [state, state] as const)}
          choose={choose}
        />
        <Choice
          name="platform"
          any="any platform"
          value={filter.platform}
          values={(answer.data?.platforms ?? [filter.platform])
            .filter((name) => name !== "")
            .map((name) => [name, name] as const)}
          choose={choose}
        />
      </search>
      <Answered answer={answer}>
        {({ reports, next_before }) => (
          <>
            {reports.length === 0 ? (
              <p>{nothingText(Object.values(filter).some(Boolean), next_before !== null)}</p>
            ) : (
              <ReportTable reports={reports} />
            )}
            <Pages before={before} next={next_before} isSearch={text !== ""} />
          </>
        )}
      </Answered>
      <p class="quiet small">
        <a href={reportsQuery(parameters, "reports.csv")}>CSV</a>
      </p>
    </>
  );
}

function nothingText(isFiltered: boolean, isMore: boolean): string {
  if (!isFiltered) {
    return "Nothing was measured yet.";
  }
  return isMore ? "None of the requests that were searched match." : "No request matches.";
}

/** A text, which is asked for a moment after the last key. */
function TextFilter({ text, onText }: { text: string; onText: (text: string) => void }) {
  const [written, setWritten] = useState(text);
  useEffect(() => {
    if (written === text) {
      return undefined;
    }
    const timer = setTimeout(() => onText(written), ASKED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [written]);
  return (
    <input
      type="search"
      aria-label="Filter by id, name, commit or command line"
      placeholder="id, name, commit, command"
      value={written}
      maxLength={200}
      onInput={(event) => setWritten(event.currentTarget.value)}
    />
  );
}

function Choice({
  name,
  any,
  value,
  values,
  choose,
}: {
  name: string;
  any: string;
  value: string;
  values: readonly (readonly [string, string])[];
  choose: (changes: Record<string, string>) => void;
}) {
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={value}
      onChange={(event) => choose({ [name]: event.currentTarget.value })}
    >
      <option value="">{any}</option>
      {values.map(([chosen, label]) => (
        <option key={chosen} value={chosen}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Links to the newest and to older requests. */
function Pages({ before, next, isSearch }: { before: string; next: number | null; isSearch: boolean }) {
  const to = (number: number | null) => {
    const parameters = new URLSearchParams(location.search);
    if (number === null) {
      parameters.delete("before");
    } else {
      parameters.set("before", String(number));
    }
    return `/reports?${parameters}`;
  };
  return (
    <nav aria-label="Pages of the list">
      {before !== "" && <a href={to(null)}>newest</a>}{" "}
      {next !== null && <a href={to(next)}>{isSearch ? "search older ones" : "older"}</a>}
    </nav>
  );
}
