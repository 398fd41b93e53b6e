import { counted } from "../numbers.ts";

/** How many cases of all are shown, where it is not all of them. */
export function Shown({ shown, all }: { shown: number; all: number }) {
  return shown === all ? null : (
    <p class="quiet" role="status">
      {counted(shown, "case", "cases")} of {all} shown
    </p>
  );
}
