import { changeLegend, objectLegend, type Swatch } from "./colouring.ts";
import type { Difference } from "./difference.ts";
import { changeText } from "./words.ts";

export function ObjectLegend({ objects }: { objects: string[] }) {
  return (
    <p class="flame-legend">
      {objectLegend(objects).map(({ label, swatch }) => (
        <span key={label}>
          <Mark swatch={swatch} /> {label}
        </span>
      ))}
    </p>
  );
}

export function ChangeLegend({ difference }: { difference: Difference }) {
  const { largest, unit } = difference;
  if (largest === 0) {
    return <p class="flame-legend">No frame changed by more than chance explains.</p>;
  }
  return (
    <p class="flame-legend">
      <span class="number">
        {changeText(-largest, unit)}{" "}
        {changeLegend().map((swatch) => (
          <Mark key={`${swatch.property}-${swatch.strength}`} swatch={swatch} />
        ))}{" "}
        {changeText(largest, unit)}
      </span>
      <span class="quiet">
        {unit === "nanoseconds" ? "CPU time per request" : "share of samples"}, with callees; blue shrank, red
        grew, grey: less than chance may explain
      </span>
    </p>
  );
}

function Mark({ swatch }: { swatch: Swatch }) {
  return (
    <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
      <rect width={1} height={1} style={{ fill: `var(${swatch.property})`, opacity: swatch.strength }} />
    </svg>
  );
}
