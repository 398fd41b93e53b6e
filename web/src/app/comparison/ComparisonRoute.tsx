import { useMemo } from "preact/hooks";
import { ComparisonPage } from "../../core/comparison/ComparisonPage.tsx";
import type { ShownComparison } from "../../core/comparison/comparison.ts";
import type { CommitDifference, ComparisonInShort, RequestCause } from "../../core/records.ts";
import { queryUrl } from "../answers.ts";
import { CommitSubject } from "../changes/CommitSubject.tsx";
import { useAddressedList } from "../lists.ts";
import { useTitle } from "../navigation.ts";
import { besideNotice } from "../notice.ts";
import type { PageProps } from "../routes.ts";
import { triggersUrl } from "../triggers/links.ts";
import { ComparedCaseEvidence } from "./CaseEvidence.tsx";
import { Downloads, OpportunityLinks } from "./Downloads.tsx";
import { LAB_LINKS } from "./labLinks.ts";
import { ProgressPanel, RequestPage, useReport } from "./progress.tsx";

/** A comparison: its verdicts as they come, and the evidence of each case when it is opened. */
export default function ComparisonRoute({ parts, parameters }: PageProps) {
  const id = parts.identity ?? "";
  const { progress, isUnknown, data, fault } = useReport<ComparisonInShort>("comparison", id);
  const list = useAddressedList("verdict", parameters);
  const comparison = useLast(
    useMemo(() => (data === null ? null : shown(data)), [data]),
    id,
  );
  useTitle(comparison === null ? null : titleOf(comparison));
  if (comparison === null) {
    return <RequestPage id={id} noun="comparison" progress={progress} isUnknown={isUnknown} fault={fault} />;
  }
  const cause = data?.cause ?? null;
  return (
    <>
      <ComparisonPage
        comparison={comparison}
        list={list}
        lab={LAB_LINKS}
        details={({ case: name }, withPictures) => (
          <ComparedCaseEvidence id={id} name={name} withPictures={withPictures} />
        )}
      >
        {data !== null && <Commits of={data.commits} />}
        {progress !== null && !progress.has_ended && <ProgressPanel progress={progress} />}
      </ComparisonPage>
      <OpportunityLinks id={id} engines={comparison.settings.engines} sides={["head", "base"]} />
      {cause !== null && <Cause cause={cause} />}
      <Downloads path={`/comparisons/${id}`} table={queryUrl("comparison.csv", { id })} />
    </>
  );
}

/** What the commits of both sides state of themselves, and what differs between them at their host. */
function Commits({ of: { base, head, page } }: { of: CommitDifference }) {
  const isSame = base?.commit === head?.commit;
  return (
    <>
      {base !== null && !isSame && (
        <p>
          base: <CommitSubject commit={base} />
        </p>
      )}
      {head !== null && (
        <p>
          {isSame ? "both" : "head"}: <CommitSubject commit={head} />
        </p>
      )}
      {page !== null && (
        <p>
          <a href={page}>What differs between both commits</a>
        </p>
      )}
    </>
  );
}

function titleOf({ base, head, platform }: ShownComparison): string {
  return `${base.name} → ${head.name} on ${platform.name}`;
}

/** What asked for a comparison: a trigger, or whoever gave the command. */
function Cause({ cause: { trigger, kind, subject, repository, pull_request } }: { cause: RequestCause }) {
  return (
    <p class="quiet downloads">
      Cause: {kind} <code>{subject}</code>
      {trigger !== "" && (
        <>
          {" "}
          ·{" "}
          <a href={triggersUrl(repository, pull_request)}>
            triggers of this {pull_request === null ? "repository" : "pull request"}
          </a>
        </>
      )}
    </p>
  );
}

function shown(answer: ComparisonInShort): ShownComparison {
  // Of one that goes on the page states how far it is, beside what there is so far.
  const reading = answer.state === "running" ? { ...answer.reading, state: null } : answer.reading;
  return {
    ...answer,
    notes: besideNotice(answer.notes),
    reading,
    settings: { ...answer.settings, seed: answer.seed },
  };
}

/** The last value of an id that was not null: what was shown stays until there is more. */
function useLast<Value>(value: Value | null, id: string): Value | null {
  const last = useMemo<{ value: Value | null }>(() => ({ value: null }), [id]);
  last.value = value ?? last.value;
  return last.value;
}
