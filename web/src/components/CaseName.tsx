import type { ComponentChildren } from "preact";

interface Properties {
  name: string;
  open: boolean;
  setOpen: (open: boolean) => void;
  children?: ComponentChildren;
}

/** The name of a case, which shows and hides its details. */
export function CaseName({ name, open, setOpen, children }: Properties) {
  return (
    <th scope="row">
      <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="arrow" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
        {name}
      </button>
      {children}
    </th>
  );
}
