import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { WORDS } from "./records.ts";
import "./word.css";

/** A word of the glossary: its meaning is shown when the pointer rests on it, and beside it after a click. */
export function Word({ of, children = of }: { of: string; children?: ComponentChildren }) {
  const [shown, setShown] = useState(false);
  const id = useId();
  const meaning = WORDS[of];
  if (meaning === undefined) {
    return <>{children}</>;
  }
  return (
    <>
      <button
        type="button"
        class="plain word"
        title={meaning}
        aria-expanded={shown}
        aria-controls={id}
        onClick={() => setShown(!shown)}
      >
        {children}
      </button>
      <span id={id} class="meaning" hidden={!shown}>
        {" "}
        ({of}: {meaning})
      </span>
    </>
  );
}
