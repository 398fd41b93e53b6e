import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { WORDS } from "./records.ts";
import "./word.css";

/** What is left free between a meaning and its word or the edge of the window. */
const GAP_PX = 8;

/** A word of the glossary: its meaning is shown when the pointer rests on it, and in a box over the page after a click. */
export function Word({ of, children = of }: { of: string; children?: ComponentChildren }) {
  const [shown, setShown] = useState(false);
  const word = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLSpanElement>(null);
  const id = useId();
  const meaning = WORDS[of];
  if (meaning === undefined) {
    return <>{children}</>;
  }
  return (
    <>
      <button
        ref={word}
        type="button"
        class="plain word"
        title={meaning}
        popovertarget={id}
        aria-expanded={shown}
        aria-controls={id}
      >
        {children}
      </button>
      <span
        ref={box}
        id={id}
        class="meaning"
        role="note"
        popover="auto"
        onToggle={(event) => {
          const isOpen = event.newState === "open";
          setShown(isOpen);
          if (isOpen && word.current !== null && box.current !== null) {
            placeBeside(word.current, box.current);
          }
        }}
      >
        <b>{of}</b>: {meaning}
      </span>
    </>
  );
}

/** Places a box below an element, or above it where there is no room, within the window; it scrolls with the page. */
function placeBeside(element: HTMLElement, box: HTMLElement): void {
  const beside = element.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const left = Math.max(GAP_PX, Math.min(beside.left, clientWidth - width - GAP_PX));
  const hasRoom = beside.bottom + GAP_PX + height <= clientHeight;
  const top = hasRoom ? beside.bottom + GAP_PX : Math.max(GAP_PX, beside.top - height - GAP_PX);
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${top + scrollY}px`;
  box.style.visibility = "visible";
}
