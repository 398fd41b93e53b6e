/**
 * A list of cases that can be filtered and sorted, and each of which can be opened.
 *
 * There may be hundreds of cases: the names of all are in the page, so that the browser's search, the keyboard and
 * screen readers reach each of them, but the rest of a row is rendered only near the window.
 */

import { type ComponentChildren, Fragment, type RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorBoundary } from "../ErrorBoundary.tsx";
import { counted } from "../numbers.ts";

/** What a table is sorted by; sorting by the same again reverses the order. */
export function useOrder<By extends string>(first: By) {
  const [order, setOrder] = useState<By>(first);
  const [reversed, setReversed] = useState(false);
  const sort = (by: By) => {
    setReversed(by === order && !reversed);
    setOrder(by);
  };
  return { order, reversed, sort };
}

interface HeaderProperties<By extends string> {
  by: By;
  order: By;
  reversed: boolean;
  sort: (by: By) => void;
  /** Whether the first order is the ascending one, as that of words; numbers begin with the largest. */
  ascending?: boolean;
  class?: string;
  heading?: string;
}

export function SortHeader<By extends string>(properties: HeaderProperties<By>) {
  const { by, order, reversed, sort, ascending = false, class: name = "", heading = by } = properties;
  const active = by === order;
  const direction = ascending === reversed ? "descending" : "ascending";
  return (
    <th scope="col" class={name} aria-sort={active ? direction : "none"}>
      <button type="button" class="plain" onClick={() => sort(by)}>
        <Heading text={heading} />
        <span aria-hidden="true">{active ? (direction === "ascending" ? " ▴" : " ▾") : ""}</span>
      </button>
    </th>
  );
}

/** A heading that may be broken after a slash. */
function Heading({ text }: { text: string }) {
  const [first, ...others] = text.split("/");
  return (
    <>
      {first}
      {others.map((part) => (
        <Fragment key={part}>
          /<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}

interface OrderProperties<By extends string> {
  /** What the list can be sorted by, with its heading. */
  orders: readonly (readonly [By, string])[];
  order: By;
  sort: (by: By) => void;
}

/** Chooses the order where there is no room for headings. */
export function OrderChoice<By extends string>({ orders, order, sort }: OrderProperties<By>) {
  return (
    <label class="phone order">
      sort by{" "}
      <select value={order} onChange={(event) => sort(event.currentTarget.value as By)}>
        {orders.map(([by, heading]) => (
          <option key={by} value={by}>
            {heading}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The filter of a list: a text and an outcome, null for any. */
export function useFilter<Outcome extends string>() {
  const [text, setText] = useState("");
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  return { text, setText, outcome, setOutcome };
}

interface FilterProperties<Outcome extends string> {
  /** All possible outcomes, in the order of their buttons. */
  outcomes: readonly Outcome[];
  /** The outcome of each case. */
  ofCases: Outcome[];
  text: string;
  setText: (text: string) => void;
  outcome: Outcome | null;
  setOutcome: (outcome: Outcome | null) => void;
}

export function CaseFilter<Outcome extends string>(properties: FilterProperties<Outcome>) {
  const { outcomes, ofCases, text, setText, outcome: chosen, setOutcome } = properties;
  return (
    <search class="filter">
      <input
        type="search"
        aria-label="Filter by case, command or group"
        placeholder="case, command or group"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {outcomes
        .filter((outcome) => ofCases.includes(outcome))
        .map((outcome) => (
          <button
            key={outcome}
            type="button"
            class="choice"
            aria-pressed={chosen === outcome}
            onClick={() => setOutcome(chosen === outcome ? null : outcome)}
          >
            {outcome} {ofCases.filter((other) => other === outcome).length}
          </button>
        ))}
    </search>
  );
}

/** Whether the name of a case, its group or one of its commands contains the text. */
export function isNamed(entry: { case: string; group: string; commands: string[] }, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [entry.case, entry.group, ...entry.commands].some((name) => name.toLowerCase().includes(wanted));
}

/** How many of the cases are shown, unless all are. */
export function ShownCount({ shown, all }: { shown: number; all: number }) {
  return shown === all ? null : (
    <p class="quiet" role="status">
      {shown.toLocaleString("en-US")} of {counted(all, "case", "cases")} shown
    </p>
  );
}

/** Whether the page is being printed: then all cases are rendered and open. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useLayoutEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const media = matchMedia("print");
    setPrinting(media.matches);
    media.addEventListener("change", () => setPrinting(media.matches), { signal });
    // Firefox does the print layout before it reports the change of media.
    addEventListener("beforeprint", () => setPrinting(true), { signal });
    addEventListener("afterprint", () => setPrinting(false), { signal });
    return () => listening.abort();
  }, []);
  return printing;
}

/** In a list with no more cases than this the cells of all rows are rendered, wherever they are. */
export const ALWAYS_RENDERED = 40;

/** The cases that the reader has opened or closed, by name: a filter removes their rows for a while. */
export type Opened = Map<string, boolean>;

export function useOpened(): Opened {
  return useRef<Opened>(new Map()).current;
}

/** The element of a case, to which `#case-NAME` leads. */
export function caseId(name: string): string {
  return `case-${encodeURIComponent(name)}`;
}

/** Whether the address of the page leads to a case. */
function isAddressed(name: string): boolean {
  return location.hash === `#${caseId(name)}`;
}

interface RowProperties {
  name: string;
  opened: Opened;
  /** The case in the document; it can be saved where its details cannot be shown. */
  data: object;
  /** How many columns there are beside the name. */
  columns: number;
  openAtFirst: boolean;
  /** Whether to render the cells also far from the window. */
  complete: boolean;
  printing: boolean;
  /** Shown after the name. */
  mark?: ComponentChildren;
  cells: () => ComponentChildren;
  /** The details of an open case. When printing, pictures are rendered only if the screen shows them. */
  details: (withPictures: boolean) => ComponentChildren;
}

export function CaseRow({
  name,
  opened,
  data,
  columns,
  openAtFirst,
  complete,
  printing,
  mark,
  cells,
  details,
}: RowProperties) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [open, setState] = useState(() => opened.get(name) ?? (openAtFirst || isAddressed(name)));
  const setOpen = (isOpen: boolean) => {
    opened.set(name, isOpen);
    setState(isOpen);
  };
  const { near, height, keep } = useNear(body);
  useLayoutEffect(() => {
    const follow = () => {
      if (isAddressed(name)) {
        opened.set(name, true);
        setState(true);
        body.current?.scrollIntoView();
      }
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [name, opened]);
  return (
    // A row that had the focus stays rendered, so that neither the focus nor a zoom or a search in it is lost.
    <tbody ref={body} id={caseId(name)} class={near || complete ? undefined : "far"} onFocusIn={keep}>
      <tr class="case" style={{ height: near || printing ? null : (height ?? (open ? OPEN_HEIGHT : null)) }}>
        <th scope="row">
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
            <span class="arrow" aria-hidden="true">
              {open ? "▾" : "▸"}
            </span>
            {name}
          </button>
          {mark}{" "}
          <a class="link" href={`#${caseId(name)}`} aria-label={`Link to ${name}`} tabIndex={open ? 0 : -1}>
            #
          </a>
        </th>
        {near || complete ? cells() : <td colSpan={columns} />}
      </tr>
      {((near && open) || printing) && (
        <tr class="details">
          <td colSpan={1 + columns}>
            <ErrorBoundary
              subject="The details of this case"
              data={() => JSON.stringify(data, null, 2)}
              file="case.json"
            >
              <Details render={() => details(near && open)} />
            </ErrorBoundary>
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** Renders inside the error boundary around it, which does not catch faults of its own parent. */
function Details({ render }: { render: () => ComponentChildren }) {
  return render();
}

/** The height assumed for an open case that was not rendered yet, in pixels. */
const OPEN_HEIGHT = 1000;

/** Rows are rendered this many window heights before they are scrolled to. */
const AHEAD = 1;

/** Whether an element is near the window, and its height when it was rendered last. */
function useNear(element: RefObject<HTMLElement | null>) {
  const [near, setNear] = useState(false);
  const [height, setHeight] = useState<number | null>(null);
  const kept = useRef(false);
  useLayoutEffect(() => {
    const watched = element.current;
    if (watched === null) {
      return;
    }
    // The observer first reports after a frame was painted, which would flicker.
    const { top, bottom } = watched.getBoundingClientRect();
    let isRendered = bottom >= -AHEAD * innerHeight && top <= (1 + AHEAD) * innerHeight;
    setNear(isRendered);
    return watch(watched, (isNear) => {
      if (isRendered && !isNear) {
        setHeight(watched.getBoundingClientRect().height);
      }
      isRendered = isNear || kept.current;
      setNear(isRendered);
    });
  }, [element]);
  const keep = () => {
    kept.current = true;
  };
  return { near, height, keep };
}

const watchers = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | null = null;

function watch(element: Element, report: (isNear: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        watchers.get(target)?.(isIntersecting);
      }
    },
    { rootMargin: `${100 * AHEAD}% 0px` },
  );
  watchers.set(element, report);
  observer.observe(element);
  return () => {
    watchers.delete(element);
    observer?.unobserve(element);
  };
}
