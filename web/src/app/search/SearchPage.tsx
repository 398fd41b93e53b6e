import type { ComponentChildren } from "preact";
import type { MatchingCase, SearchResults } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { CommitLine } from "../changes/CommitSubject.tsx";
import { seriesUrl } from "../changes/links.ts";
import { useTitle } from "../navigation.ts";
import { searchQuery } from "../pageQueries.ts";
import { ReportTable } from "../reports/ReportTable.tsx";
import type { PageProps } from "../routes.ts";
import { historyName } from "../series/SeriesPicker.tsx";

/** What a text names: commits, histories, requests and cases. */
export default function SearchPage({ parameters }: PageProps) {
  const text = (parameters.get("text") ?? "").trim();
  const query = searchQuery(parameters);
  const answer = useAnswer<SearchResults>(query);
  useTitle(text === "" ? null : `${text}: search`);
  return (
    <>
      <h1>Search</h1>
      <p class="quiet">
        The beginning of a commit's hash or tag, words of its subject or its author's name, the number of a
        pull request as <code>#123</code>, the beginning of the id of a comparison or run, or a part of the
        name of a case or branch. <a href={`/reports?${new URLSearchParams({ text })}`}>Reports</a> are also
        searched by machine and command line.
      </p>
      {query === null ? (
        <p>Give two characters or more.</p>
      ) : (
        <Answered answer={answer}>{(results) => <Results text={text} results={results} />}</Answered>
      )}
    </>
  );
}

function Results({ text, results }: { text: string; results: SearchResults }) {
  const { commits, histories, requests, cases } = results;
  if ([commits, histories, requests, cases].every((list) => list.length === 0)) {
    return (
      <p>
        No commit, history, request or case is named by <code>{text}</code>.
      </p>
    );
  }
  return (
    <>
      <Names
        heading="Commits"
        items={commits.map((commit) => (
          <>
            <CommitLine commit={commit} /> <span class="quiet small">{commit.time.slice(0, 10)}</span>
          </>
        ))}
      />
      <Names
        heading="Histories"
        items={histories.map((history) => (
          <a href={`/versions?history=${history.number}`}>{historyName(history)}</a>
        ))}
      />
      {requests.length > 0 && (
        <section>
          <h2>Comparisons and runs</h2>
          <ReportTable reports={requests} />
        </section>
      )}
      <Names heading="Cases" items={cases.map((named) => <CaseLinks named={named} />)} />
    </>
  );
}

function Names({ heading, items }: { heading: string; items: ComponentChildren[] }) {
  return items.length === 0 ? null : (
    <section>
      <h2>{heading}</h2>
      <ul class="plain-list">
        {items.map((item, place) => (
          <li key={place}>{item}</li>
        ))}
      </ul>
    </section>
  );
}

function CaseLinks({ named: { case: name, has_series, result } }: { named: MatchingCase }) {
  return (
    <>
      {has_series ? <a href={seriesUrl({ case: name })}>{name}</a> : name}
      {result !== null && (
        <>
          {" "}
          <a class="small" href={`/${result.path}/${result.id}?${new URLSearchParams({ case: name })}`}>
            in {result.base === null ? result.head : `${result.base} → ${result.head}`}
          </a>
        </>
      )}
    </>
  );
}
