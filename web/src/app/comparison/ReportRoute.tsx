import { useMemo } from "preact/hooks";
import { CasesPage } from "../../core/cases/CasesPage.tsx";
import type { ComparisonInShort, RequestCause, RunInShort } from "../../core/records.ts";
import { queryUrl } from "../answers.ts";
import { useAddressedList } from "../lists.ts";
import { useTitle } from "../navigation.ts";
import { besideNotice } from "../notice.ts";
import type { PageProps } from "../routes.ts";
import { triggersUrl } from "../triggers/links.ts";
import { CaseEvidence } from "./CaseEvidence.tsx";
import { Downloads, OpportunityLinks } from "./Downloads.tsx";
import { ProgressPanel, RequestPage, useReport } from "./progress.tsx";

export const ComparisonRoute = (properties: PageProps) => <ReportRoute kind="comparison" {...properties} />;
export const RunRoute = (properties: PageProps) => <ReportRoute kind="run" {...properties} />;

/** A comparison or a run: its cases as they come, and the evidence of each when it is opened. */
function ReportRoute({ kind, parts, parameters }: PageProps & { kind: "comparison" | "run" }) {
  const id = parts.identity ?? "";
  const { progress, isUnknown, data, fault } = useReport<ComparisonInShort | RunInShort>(kind, id);
  const list = useAddressedList(kind === "run" ? "case" : "verdict", parameters);
  const of = useLast(data, id);
  useTitle(of === null ? null : of.subject);
  if (of === null) {
    return <RequestPage id={id} noun={kind} progress={progress} isUnknown={isUnknown} fault={fault} />;
  }
  const { cause = null, differences = null } = "cause" in of ? of : {};
  return (
    <>
      <CasesPage
        of={{ ...of, sheet: { ...of.sheet, notes: besideNotice(of.sheet.notes) } }}
        list={list}
        details={(name, withPictures) => (
          <CaseEvidence kind={kind} id={id} name={name} withPictures={withPictures} />
        )}
      >
        {differences !== null && (
          <p>
            <a href={differences}>What differs between both commits</a>
          </p>
        )}
        {progress !== null && !progress.has_ended && <ProgressPanel progress={progress} />}
      </CasesPage>
      <OpportunityLinks id={id} engines={of.engines} sides={kind === "run" ? ["head"] : ["head", "base"]} />
      {cause !== null && <Cause cause={cause} />}
      <Downloads path={`/${kind}s/${id}`} table={queryUrl(`${kind}.csv`, { id })} />
    </>
  );
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

/** The last value of an id that was not null: what was shown stays until there is more. */
function useLast<Value>(value: Value | null, id: string): Value | null {
  const last = useMemo<{ value: Value | null }>(() => ({ value: null }), [id]);
  last.value = value ?? last.value;
  return last.value;
}
