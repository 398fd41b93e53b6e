import type { Outcome } from "../comparison/comparison.ts";

const SIGNS: Record<Outcome, string> = {
  regression: "!",
  improvement: "+",
  unsure: "?",
  failed: "×",
  invalid: "×",
  same: "=",
  identical: "=",
};

/** An outcome as a coloured word with a sign, so that it is readable without colour. */
export function OutcomeMark({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`mark ${outcome}`}>
      <span aria-hidden="true">{SIGNS[outcome]} </span>
      {outcome}
    </span>
  );
}
