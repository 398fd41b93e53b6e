import type { ComponentChildren } from "preact";

interface Properties {
  /** The table in words, for those who do not see it. */
  label: string;
  children: ComponentChildren;
}

/** The place of a table that may be wider than the page: it is scrolled also by keys. */
export function WideTable({ label, children }: Properties) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus for the keys that scroll it
    <section class="wide" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
