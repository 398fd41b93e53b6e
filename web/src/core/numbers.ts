/** How numbers and metrics are written, as in the other reports. */

import { type Check, METRICS } from "./records.ts";

const NO_VALUE = "-";

export function change(fraction: number | null): string {
  return fraction === null ? NO_VALUE : `${signedPercent(fraction, decimals(fraction))} %`;
}

export function interval(low: number | null, high: number | null): string {
  const places = decimals(Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0)));
  const bound = (value: number | null, open: string) =>
    value === null ? open : signedPercent(value, places);
  return `[${bound(low, "-∞")}, ${bound(high, "+∞")}]`;
}

export function percent(fraction: number | null): string {
  return fraction === null ? NO_VALUE : `${plain(fraction * 100, 2)} %`;
}

/** A part of a whole, always with one decimal; it stays on one line. */
export function share(fraction: number): string {
  return `${(fraction * 100).toFixed(1)}\u00a0%`;
}

export function count(value: number | null): string {
  if (value === null) {
    return NO_VALUE;
  }
  const size = Math.abs(value);
  if (size >= 1000) {
    return plain(value, 0);
  }
  if (size >= 100) {
    return plain(value, 1);
  }
  return size >= 0.01 || size === 0 ? plain(value, 2) : value.toPrecision(1);
}

export function duration(seconds: number): string {
  if (seconds < 59.95) {
    return `${seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function counted(number: number, singular: string, plural: string): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? singular : plural}`;
}

/** What a metric is called in a sentence; those of plugins are not in the table. */
export function metricLabel(name: string): string {
  return METRICS[name]?.label ?? name.replaceAll("_per_op", "_per_request").replaceAll("_", " ");
}

/** The unit of a metric, empty for those of plugins. */
export function metricUnit(name: string): string {
  const unit = METRICS[name]?.unit ?? "";
  // Files for other programs have letters alone.
  return unit === "us" ? "µs" : unit;
}

/** A text in which arrows of letters are arrows. */
export function withArrows(text: string): string {
  return text.replaceAll(" -> ", " → ");
}

/** What a metric is called where there is little room. */
export function metricHeading(name: string): string {
  return METRICS[name]?.heading ?? metricLabel(name);
}

/** The value that a check of validity saw. */
export function checkValue({ value }: Check): string {
  return typeof value === "number" ? count(value) : (value ?? "unknown");
}

function decimals(fraction: number): number {
  return fraction === 0 || Math.abs(fraction) >= 0.00995 ? 1 : 2;
}

function signedPercent(fraction: number, places: number): string {
  return (fraction * 100).toLocaleString("en-US", {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    signDisplay: "exceptZero",
    roundingMode: "halfEven",
  });
}

function plain(value: number, places: number): string {
  return value.toLocaleString("en-US", {
    maximumFractionDigits: places,
    signDisplay: "negative",
    roundingMode: "halfEven",
  });
}
