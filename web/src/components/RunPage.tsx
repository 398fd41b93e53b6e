import type { Pictures } from "../pictures.ts";
import type { RunReport } from "../run-document.ts";
import { Environment } from "./Environment.tsx";
import { RunHeadline } from "./RunHeadline.tsx";
import { RunTable } from "./RunTable.tsx";

export function RunPage({ report, pictures }: { report: RunReport; pictures: Pictures }) {
  return (
    <>
      <RunHeadline report={report} />
      <RunTable cases={report.cases} pictures={pictures} />
      <Environment measured={report} />
    </>
  );
}
