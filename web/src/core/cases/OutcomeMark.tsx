import { OUTCOMES } from "../records.ts";

export { OUTCOMES };
export type Outcome = (typeof OUTCOMES)[number];

const SIGNS: Record<Outcome, string> = {
  regression: "!",
  improvement: "+",
  unsure: "?",
  failed: "×",
  invalid: "×",
  same: "=",
  identical: "=",
};

/** The words that are counted; of the others there are `2 same`, as adjectives. */
const PLURALS: { [outcome in Outcome]?: string } = {
  regression: "regressions",
  improvement: "improvements",
};

/** An outcome as a coloured word with a sign, so that it is readable without colour, and the number of its cases; `text` stands in place of the word. */
export function OutcomeMark({ outcome, cases, text }: { outcome: Outcome; cases?: number; text?: string }) {
  return (
    <span class={`mark ${outcome}`}>
      <span aria-hidden="true">{SIGNS[outcome]} </span>
      {cases !== undefined && `${cases.toLocaleString("en-US")} `}
      {text !== undefined
        ? text
        : cases === undefined || cases === 1
          ? outcome
          : (PLURALS[outcome] ?? outcome)}
    </span>
  );
}
