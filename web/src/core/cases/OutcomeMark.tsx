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

/** An outcome as a coloured word with a sign, so that it is readable without colour, and the number of its cases. */
export function OutcomeMark({ outcome, cases }: { outcome: Outcome; cases?: number }) {
  return (
    <span class={`mark ${outcome}`}>
      <span aria-hidden="true">{SIGNS[outcome]} </span>
      {cases !== undefined && `${cases.toLocaleString("en-US")} `}
      {outcome}
    </span>
  );
}
