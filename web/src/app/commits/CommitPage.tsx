import { change, counted, metricHeading } from "../../core/numbers.ts";
import type { ChangedGroup, CommitChanges, CommitInHistory, ListedChange } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { ChangeTable, NamedCommit } from "../changes/ChangeTable.tsx";
import { byAuthor, CommitSubject } from "../changes/CommitSubject.tsx";
import { commitUrl, seriesUrl } from "../changes/links.ts";
import { useTitle } from "../navigation.ts";
import { commitQuery, isHash } from "../pageQueries.ts";
import { ReportTable } from "../reports/ReportTable.tsx";
import type { PageProps } from "../routes.ts";
import { searchUrl } from "../search/SearchField.tsx";
import SearchPage from "../search/SearchPage.tsx";
import { historyName } from "../series/SeriesPicker.tsx";

/** What a commit did; a name that is no hash, as that of a tag, is searched for. */
export default function CommitPage({ parts }: PageProps) {
  const text = parts.commit ?? "";
  return isHash(text) ? (
    <OfHash hash={text} />
  ) : (
    <SearchPage parts={{}} parameters={new URLSearchParams({ text })} />
  );
}

/** What a commit did, in each history that has it. */
function OfHash({ hash }: { hash: string }) {
  const answer = useAnswer<CommitChanges>(commitQuery(hash));
  const commit = answer.data?.commit;
  useTitle(commit === undefined ? null : `${commit.name} ${commit.subject}`);
  return (
    <>
      {answer.fault?.status === 404 && (
        <p>
          <a href={searchUrl(hash)}>Search for {hash}</a>
        </p>
      )}
      <Answered answer={answer}>
        {({ commit, tags, histories, comparisons }) => (
          <>
            <h1>
              Commit <code>{commit.commit.slice(0, 12)}</code>
            </h1>
            <p>
              <CommitSubject commit={commit} />
            </p>
            <p class="quiet small">
              {commit.time.replace("T", " ").replace("Z", " UTC")}
              {tags.length > 0 && `, ${tags.join(", ")}`} <code>{commit.commit}</code>
            </p>
            {histories.map((of) => (
              <InHistory key={of.history.number} of={of} commit={commit.commit} />
            ))}
            {comparisons.length > 0 && (
              <section>
                <h2>Comparisons whose head is this commit</h2>
                <ReportTable reports={comparisons} />
              </section>
            )}
          </>
        )}
      </Answered>
    </>
  );
}

function InHistory({ of, commit }: { of: CommitInHistory; commit: string }) {
  return (
    <section>
      <h2>{historyName(of.history)}</h2>
      <p class="quiet small">
        {of.history.repository}
        {of.after !== null && (
          <>
            , after{" "}
            <a href={commitUrl(of.after.commit)}>
              <code>{of.after.name}</code>
            </a>{" "}
            {byAuthor(of.after)}
          </>
        )}
      </p>
      <p>{stateOf(of)}</p>
      {of.steps.length > 0 && <ChangeTable changes={of.steps} caption="Steps at this commit" ofOneCommit />}
      {of.drifts.length > 0 && (
        <ul aria-label="Drifts">
          {of.drifts.map((drift) => (
            <DriftHere
              key={`${drift.case} ${drift.metric} ${drift.topology} ${drift.source} ${drift.id}`}
              drift={drift}
              commit={commit}
            />
          ))}
        </ul>
      )}
      {of.groups.length > 0 && <Groups of={of} commit={commit} />}
    </section>
  );
}

/** A drift that the commit is in, or that begins after it. */
function DriftHere({ drift, commit }: { drift: ListedChange; commit: string }) {
  const { after, commit: last } = drift;
  if (after === null || last === null) {
    return null;
  }
  const place =
    after.commit === commit
      ? "After this commit begins the"
      : last.commit === commit
        ? "This commit is the last of the"
        : "This commit is part of the";
  const range = { first: after.commit, last: last.commit, since: after.commit };
  return (
    <li>
      {place}{" "}
      <abbr title="Many small changes of the same direction, each too small to be reported by itself.">
        drift
      </abbr>{" "}
      of{" "}
      <a href={seriesUrl({ case: drift.case, metric: drift.metric, history: drift.history, ...range })}>
        {drift.case}
      </a>
      , <span class="number">{change(drift.change)}</span> {metricHeading(drift.metric)} from{" "}
      <NamedCommit commit={after} /> to <NamedCommit commit={last} />
      {drift.accepted !== null && `, accepted: ${drift.accepted}`}.
    </li>
  );
}

function stateOf(of: CommitInHistory): string {
  if (of.failure !== null) {
    return `It could not be built or measured: ${of.failure}`;
  }
  if (of.measured === 0) {
    return of.is_built ? "It is built, and not measured." : "It is not measured.";
  }
  if (of.is_same_program) {
    return "Its program is that of the commit before: nothing can have changed.";
  }
  const steps =
    of.steps.length === 0
      ? "No series changes significantly by this commit alone"
      : `${counted(of.steps.length, "step", "steps")} here`;
  return `${steps}. Of ${counted(of.measured, "series", "series")} that are measured here, ${of.changed} execute other code than at the commit before.`;
}

function Groups({ of, commit }: { of: CommitInHistory; commit: string }) {
  return (
    <div class="wide">
      <table class="groups">
        <caption>What it did to each group of cases, beside the measured commit before it</caption>
        <thead>
          <tr>
            <th scope="col">group</th>
            <th scope="col" class="number">
              <abbr title="The geometric mean of the changes of all cases of the group.">mean change</abbr>
            </th>
            <th scope="col">metric</th>
            <th scope="col" class="number">
              cases
            </th>
            <th scope="col" class="number">
              <abbr title="The case executes the same code on the same data.">identical</abbr>
            </th>
            <th scope="col">lowest change</th>
            <th scope="col">highest change</th>
          </tr>
        </thead>
        <tbody>
          {of.groups.map((group) => (
            <GroupRow key={`${group.group} ${group.metric}`} of={of} group={group} commit={commit} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GroupRow({ of, group, commit }: { of: CommitInHistory; group: ChangedGroup; commit: string }) {
  const common = { metric: group.metric, history: of.history.number, since: of.after?.commit ?? commit };
  const extreme = (value: number, name: string) => (
    <td>
      <span class="number">{change(value)}</span> <a href={seriesUrl({ ...common, case: name })}>{name}</a>
    </td>
  );
  return (
    <tr>
      <th scope="row">
        <a href={seriesUrl({ ...common, group: group.group })}>{group.group}</a>
      </th>
      <td class="number">{change(group.change)}</td>
      <td>{metricHeading(group.metric)}</td>
      <td class="number">{group.cases}</td>
      <td class="number">{group.identical}</td>
      {extreme(group.least, group.least_case)}
      {extreme(group.most, group.most_case)}
    </tr>
  );
}
