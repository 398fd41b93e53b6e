/** What can be taken along: the one-file report, the document for programs, the text for people, the table. */
export function Downloads({ path, table }: { path: string; table: string }) {
  return (
    <p class="quiet small downloads">
      To keep or send: <a href={`${path}.html`}>report in one file</a> · <a href={`${path}.json`}>JSON</a> ·{" "}
      <a href={`${path}.md`}>Markdown</a> · <a href={table}>table as CSV</a>
    </p>
  );
}
