import type { CaseResult } from "../document.ts";
import { FlamePanel } from "../flame/FlamePanel.tsx";
import type { CasePictures } from "../pictures.ts";
import { ranked, word } from "../reading.ts";
import { Charts } from "./Charts.tsx";
import { CheckList } from "./CheckList.tsx";
import { CulpritList } from "./CulpritList.tsx";
import { Failure } from "./Failure.tsx";
import { Sentence } from "./Sentence.tsx";
import { VerdictTable } from "./VerdictTable.tsx";

const MARKS = { moved: "Moved cost", diffuse: "Diffuse", cause: "Cause", limits: "Limits" } as const;

interface Properties {
  result: CaseResult;
  pictures: CasePictures | null;
}

export function CaseDetails({ result, pictures }: Properties) {
  const culprits = ranked(result, "culprit");
  const remarks = (["moved", "diffuse", "cause", "limits"] as const).flatMap((kind) => ranked(result, kind));
  return (
    <div class="detail">
      <p class="quiet">
        {result.commands.join(", ")} · group {result.group} · {result.topology}
      </p>
      {result.failure !== null && <Failure text={result.failure} failed={word(result) === "failed"} />}
      {pictures?.missing && <p class="warning">No pictures: {pictures.missing}</p>}
      {culprits.length > 0 && <CulpritList culprits={culprits} />}
      {pictures?.stacks && <FlamePanel {...pictures.stacks} />}
      {remarks.map((finding) => (
        <p key={`${finding.kind}-${finding.rank}-${finding.text}`}>
          <strong>{finding.kind === "culprit" ? "" : MARKS[finding.kind]}:</strong>{" "}
          <Sentence text={finding.text} />
        </p>
      ))}
      {pictures !== null && <Charts pictures={pictures} />}
      {result.verdicts.length > 0 && <VerdictTable verdicts={result.verdicts} />}
      {result.validity.checks.length > 0 && <CheckList checks={result.validity.checks} />}
    </div>
  );
}
