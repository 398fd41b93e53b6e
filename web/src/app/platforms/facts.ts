/** Facts of platforms in words: they are recorded under short names, and lists of them as JSON. */

import { counted } from "../../core/numbers.ts";

const NAMES: Record<string, string> = {
  address_randomisation: "address randomisation of Linux",
  clock_source: "clock source",
  cpu: "processor model",
  governor: "frequency governor",
  huge_pages: "transparent huge pages",
  huge_pages_defragmentation: "defragmentation for huge pages",
  libc: "C library",
  memory_gib: "memory, GiB",
  mitigations: "mitigations of processor flaws",
  turbo: "frequencies above the nominal (turbo)",
};

/** What a fact is called on pages. */
export function factName(name: string): string {
  return NAMES[name] ?? name.replaceAll("_", " ");
}

/** The value of a fact in words; one that is of no known form stays as it was recorded. */
export function factText(name: string, value: string): string {
  const parsed = value.startsWith("[") || value.startsWith("{") ? fromJson(value) : undefined;
  if (name === "processors" && isListOfProcessors(parsed)) {
    const different = (place: 1 | 2) => new Set(parsed.map((processor) => processor[place])).size;
    return [
      counted(parsed.length, "processor", "processors"),
      counted(different(1), "core", "cores"),
      counted(different(2), "last-level cache", "last-level caches"),
    ].join(", ");
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
    return Object.entries(parsed)
      .map(([part, text]) => `${part.replaceAll("_", " ")}: ${String(text)}`)
      .join("\n");
  }
  return value;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (fault instanceof SyntaxError) {
      return undefined;
    }
    throw fault;
  }
}

/** Whether a value lists processors, each with its number, its core and its cache. */
function isListOfProcessors(value: unknown): value is [unknown, unknown, unknown][] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((entry) => Array.isArray(entry) && entry.length === 3)
  );
}
