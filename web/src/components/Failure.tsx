/** What happened, and below it the end of the server's log, line by line. */
export function Failure({ text, failed }: { text: string; failed: boolean }) {
  const [first, ...log] = text.split("\n");
  return (
    <>
      <p class="warning">
        {failed ? "Failed: " : ""}
        {first}
      </p>
      {log.length > 0 && <pre class="small">{log.join("\n")}</pre>}
    </>
  );
}
