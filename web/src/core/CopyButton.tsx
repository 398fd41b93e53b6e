import { useState } from "preact/hooks";

const SHOWN_MS = 2_000;

/** Copies a text to the clipboard. */
export function CopyButton({ text, subject }: { text: string; subject: string }) {
  const [result, setResult] = useState("");
  const copy = async () => {
    setResult(
      (await copied(text)) ? "copied" : "select the text and copy it: the browser does not permit it here",
    );
    setTimeout(() => setResult(""), SHOWN_MS);
  };
  return (
    <span class="copy">
      <button type="button" class="choice" aria-label={`Copy ${subject}`} onClick={copy}>
        copy
      </button>{" "}
      <span class="quiet small" aria-live="polite">
        {result}
      </span>
    </span>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages that came without encryption from another machine have no clipboard.
    return false;
  }
}
