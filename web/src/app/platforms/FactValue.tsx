import { factText } from "./facts.ts";

/** The value of a fact of a platform, in words; empty ones are not known. */
export function FactValue({ name, value }: { name: string; value: string | null }) {
  return value === null || value === "" ? (
    <span class="quiet">not known</span>
  ) : (
    <code class="fact">{factText(name, value)}</code>
  );
}
