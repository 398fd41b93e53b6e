import { useEffect, useState } from "preact/hooks";
import { documentIn } from "../../core/cases/documents.ts";
import { ComparisonPage } from "../../core/comparison/ComparisonPage.tsx";
import type { Comparison } from "../../core/records.ts";
import type { PageProps } from "../routes.ts";

/** A comparison: its verdicts and reasons. */
export default function ComparisonRoute({ parts }: PageProps) {
  const [comparison, setComparison] = useState<Comparison | null>(null);
  useEffect(() => {
    fetch(`/comparisons/${parts.identity}.json`)
      .then((response) => response.text())
      .then((text) => setComparison(documentIn(text) as Comparison));
  }, [parts.identity]);
  return comparison === null ? null : <ComparisonPage comparison={comparison} drawings={new Map()} />;
}
