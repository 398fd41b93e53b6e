import type { Check } from "../document.ts";
import { count } from "../numbers.ts";

export function CheckList({ checks }: { checks: Check[] }) {
  return (
    <>
      <h3>Validity</h3>
      <ul class="checks">
        {checks.map((check, place) => (
          <li key={place} class={check.ok ? "holds" : "fails"}>
            <span aria-hidden="true">{check.ok ? "✓" : "×"}</span> {check.check} is {seen(check)}
            <span class="quiet">, expected {check.limit}</span>
            {!check.ok && <span class="sr"> (does not hold)</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function seen(check: Check): string {
  return typeof check.value === "number" ? count(check.value) : (check.value ?? "unknown");
}
