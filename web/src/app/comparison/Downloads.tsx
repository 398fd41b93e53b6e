/** What can be taken along: the one-file report, the document for programs, the text for people, the table. */
export function Downloads({ path, table }: { path: string; table: string }) {
  return (
    <p class="quiet small downloads">
      To keep or send: <a href={`${path}.html`}>report in one file</a> · <a href={`${path}.json`}>JSON</a> ·{" "}
      <a href={`${path}.md`}>Markdown</a> · <a href={table}>table as CSV</a>
    </p>
  );
}

/** Leads to what could be optimised in each version of a comparison or run that was counted. */
export function OpportunityLinks({ id, engines, sides }: OpportunityLinksProperties) {
  if (!engines.includes("counted")) {
    return null;
  }
  return (
    <p class="downloads">
      What to optimise next:{" "}
      {sides.map((side, place) => (
        <span key={side}>
          {place > 0 && " · "}
          <a href={`/opportunities?${new URLSearchParams(side === "base" ? { id, side } : { id })}`}>
            opportunities{sides.length > 1 && ` of the ${side}`}
          </a>
        </span>
      ))}
    </p>
  );
}

interface OpportunityLinksProperties {
  id: string;
  engines: readonly string[];
  sides: readonly ("head" | "base")[];
}
