import { useEffect, useState } from "preact/hooks";
import { documentIn } from "../../core/cases/documents.ts";
import type { RunReport } from "../../core/records.ts";
import { RunPage } from "../../core/run/RunPage.tsx";
import type { PageProps } from "../routes.ts";

/** A run: its metrics and the functions that cost most. */
export default function RunRoute({ parts }: PageProps) {
  const [report, setReport] = useState<RunReport | null>(null);
  useEffect(() => {
    fetch(`/runs/${parts.identity}.json`)
      .then((response) => response.text())
      .then((text) => setReport(documentIn(text) as RunReport));
  }, [parts.identity]);
  return report === null ? null : <RunPage report={report} drawings={new Map()} />;
}
