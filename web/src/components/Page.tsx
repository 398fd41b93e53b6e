import type { Comparison } from "../document.ts";
import { CaseTable } from "./CaseTable.tsx";
import { Environment } from "./Environment.tsx";
import { Headline } from "./Headline.tsx";

export function Page({ comparison }: { comparison: Comparison }) {
  return (
    <>
      <Headline comparison={comparison} />
      <CaseTable cases={comparison.cases} />
      <Environment comparison={comparison} />
    </>
  );
}
