import type { Comparison } from "../document.ts";
import type { Pictures } from "../pictures.ts";
import { CaseTable } from "./CaseTable.tsx";
import { Environment } from "./Environment.tsx";
import { Headline } from "./Headline.tsx";

export function Page({ comparison, pictures }: { comparison: Comparison; pictures: Pictures }) {
  return (
    <>
      <Headline comparison={comparison} />
      <CaseTable cases={comparison.cases} pictures={pictures} />
      <Environment measured={comparison} />
    </>
  );
}
