/**
 * A list of cases that can be filtered and sorted, and each of which can be opened.
 *
 * There may be hundreds of cases: the names of all are in the page, so that the browser's search, the keyboard and
 * screen readers reach each of them, but the rest of a row is rendered only near the window. Of thousands the names
 * too are only there near the window: the list's own filter reaches the others.
 */

import { type ComponentChildren, Fragment, type RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorBoundary } from "../ErrorBoundary.tsx";
import { counted } from "../numbers.ts";
import { WORDS } from "../records.ts";

/** What a list shows and in which order; "" stands for all. It is a part of the address of a page that can be linked. */
export interface ListState {
  text: string;
  outcome: string;
  group: string;
  metric: string;
  engine: string;
  order: string;
  reversed: boolean;
}

/** The state of a list, how it is changed, and how its cases are linked. */
export interface ListControl {
  state: ListState;
  change: (changes: Partial<ListState>) => void;
  /** The case that the address leads to. */
  addressed: string | null;
  /** The address of a case. */
  address: (name: string) => string;
  /** Called when the reader opens or closes a case. */
  onOpened?: (name: string, isOpen: boolean) => void;
}

/** The state that a list begins with, in an order. */
export function firstState(order: string): ListState {
  return { text: "", outcome: "", group: "", metric: "", engine: "", order, reversed: false };
}

/** A list whose state is in no address, and whose cases are linked by the part after `#`. */
export function useLocalList(order: string): ListControl {
  const [state, setState] = useState(() => firstState(order));
  const [hash, setHash] = useState(location.hash);
  useLayoutEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return {
    state,
    change: (changes) => setState((before) => ({ ...before, ...changes })),
    addressed: hash.startsWith("#case-") ? decoded(hash.slice("#case-".length)) : null,
    address: (name) => `#${caseId(name)}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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

/** The order of a list, as `useOrder` has it. */
export function orderOf<By extends string>({ state, change }: ListControl) {
  const order = state.order as By;
  const sort = (by: By) => change({ order: by, reversed: by === order && !state.reversed });
  return { order, reversed: state.reversed, sort };
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

interface FilterProperties<Outcome extends string> {
  list: ListControl;
  /** All possible outcomes, in the order of their buttons. */
  outcomes: readonly Outcome[];
  /** The outcome of each case. */
  ofCases: Outcome[];
  /** What else the list is filtered by: the name, what each value is called, and all values. */
  choices?: readonly { by: "group" | "metric" | "engine"; values: readonly (readonly [string, string])[] }[];
}

export function CaseFilter<Outcome extends string>(properties: FilterProperties<Outcome>) {
  const { list, outcomes, ofCases, choices = [] } = properties;
  const counts = useMemo(() => countsOf(ofCases), [ofCases]);
  return (
    <search class="filter">
      <input
        type="search"
        aria-label="Filter by case, command or group"
        placeholder="case, command or group"
        value={list.state.text}
        onInput={(event) => list.change({ text: event.currentTarget.value })}
      />
      {choices.map(({ by, values }) =>
        values.length < 2 ? null : (
          <select
            key={by}
            aria-label={`Filter by ${by}`}
            value={list.state[by]}
            onChange={(event) => list.change({ [by]: event.currentTarget.value })}
          >
            <option value="">any {by}</option>
            {values.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        ),
      )}
      {outcomes
        .filter((outcome) => counts.has(outcome))
        .map((outcome) => (
          <button
            key={outcome}
            type="button"
            class="choice"
            title={WORDS[outcome]}
            aria-pressed={list.state.outcome === outcome}
            onClick={() => list.change({ outcome: list.state.outcome === outcome ? "" : outcome })}
          >
            {outcome} {(counts.get(outcome) ?? 0).toLocaleString("en-US")}
          </button>
        ))}
    </search>
  );
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** What a case is known by. */
export interface Named {
  case: string;
  group: string;
  commands: string[];
}

/** What is searched of each case, in lower case: it is made once, and searched at every keystroke. */
const searched = new WeakMap<Named, string>();

/** Whether the name of a case, its group or one of its commands contains the text. */
export function isNamed(entry: Named, wanted: string): boolean {
  let text = searched.get(entry);
  if (text === undefined) {
    text = [entry.case, entry.group, ...entry.commands].join("\n").toLowerCase();
    searched.set(entry, text);
  }
  return text.includes(wanted.trim().toLowerCase());
}

const collator = new Intl.Collator("en", { numeric: true });

/** Compares names as readers order them: `get-9` comes before `get-10`. */
export function byName(left: string, right: string): number {
  return collator.compare(left, right);
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

/** A list with more cases than this has only those rows in the page that are near the window. */
const WINDOWED_FROM = 600;
const ROW_HEIGHT = 38;
/** Rows above and below the window that are in the page. */
const ROWS_AROUND = 12;

interface RowsProperties<Item extends Named> {
  items: Item[];
  /** How many cases there are, of which the items are those that are shown. */
  all: number;
  columns: number;
  opened: Opened;
  list: ListControl;
  printing: boolean;
  children: (item: Item) => ComponentChildren;
}

/** The rows of a list; of a long one those near the window, between rows that are as high as the others. */
export function Rows<Item extends Named>(properties: RowsProperties<Item>) {
  const { items, all, printing, children } = properties;
  if (all > WINDOWED_FROM && !printing) {
    return <WindowedRows {...properties} />;
  }
  return items.map(children);
}

function WindowedRows<Item extends Named>({ items, columns, opened, list, children }: RowsProperties<Item>) {
  const top = useRef<HTMLTableSectionElement>(null);
  const details = useRef(new Map<string, number>()).current;
  const [first, setFirst] = useState(0);
  const shown = Math.ceil(innerHeight / ROW_HEIGHT) + 2 * ROWS_AROUND;
  const places = useMemo(() => new Map(items.map((item, place) => [item.case, place])), [items]);
  const openPlaces = [...opened]
    .flatMap(([name, isOpen]) => (isOpen ? [[places.get(name) ?? -1, details.get(name) ?? 0] as const] : []))
    .filter(([place]) => place >= 0);
  const above = (place: number) =>
    place * ROW_HEIGHT + openPlaces.reduce((sum, [at, height]) => sum + (at < place ? height : 0), 0);
  const start = Math.max(0, Math.min(first, items.length - shown));
  const end = Math.min(items.length, start + shown);
  useLayoutEffect(() => {
    const follow = () => {
      const element = top.current;
      if (element === null) {
        return;
      }
      for (const row of element.parentElement?.querySelectorAll<HTMLElement>("tr.details") ?? []) {
        details.set(row.dataset.case ?? "", row.getBoundingClientRect().height);
      }
      const scrolled = -element.getBoundingClientRect().top;
      let place = Math.floor(scrolled / ROW_HEIGHT);
      while (place > 0 && above(place) > scrolled) {
        place -= Math.max(1, Math.floor((above(place) - scrolled) / ROW_HEIGHT / 2));
      }
      // In steps, so that not every turn of a wheel draws rows.
      const step = ROWS_AROUND / 2;
      setFirst(Math.max(0, Math.floor((place - ROWS_AROUND) / step) * step));
    };
    follow();
    addEventListener("scroll", follow, { passive: true });
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow);
      removeEventListener("resize", follow);
    };
  });
  useLayoutEffect(() => {
    const place = list.addressed === null ? undefined : places.get(list.addressed);
    if (place !== undefined && top.current !== null && opened.get(list.addressed ?? "") !== true) {
      scrollTo(0, scrollY + top.current.getBoundingClientRect().top + above(place));
    }
  }, [list.addressed]);
  return (
    <>
      <Spacer key="above" element={top} columns={columns} height={above(start)} />
      {items.slice(start, end).map(children)}
      <Spacer key="below" columns={columns} height={above(items.length) - above(end)} />
    </>
  );
}

function Spacer({
  element,
  columns,
  height,
}: {
  element?: RefObject<HTMLTableSectionElement | null>;
  columns: number;
  height: number;
}) {
  return (
    <tbody ref={element ?? null} class="spacer" aria-hidden="true">
      <tr>
        <td colSpan={1 + columns} style={{ height: `${height}px`, padding: 0 }} />
      </tr>
    </tbody>
  );
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

interface RowProperties {
  name: string;
  opened: Opened;
  list: ListControl;
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
  list,
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
  const isAddressed = list.addressed === name;
  const [open, setState] = useState(() => opened.get(name) ?? (openAtFirst || isAddressed));
  const setOpen = (isOpen: boolean) => {
    opened.set(name, isOpen);
    setState(isOpen);
  };
  const choose = (isOpen: boolean) => {
    setOpen(isOpen);
    list.onOpened?.(name, isOpen);
  };
  const { near, height, keep } = useNear(body);
  const kept = height ?? (open ? OPEN_HEIGHT : null);
  const followed = useRef(false);
  useLayoutEffect(() => {
    // A case that the reader has opened is where the reader looks.
    if (isAddressed && !followed.current && opened.get(name) !== true) {
      setOpen(true);
      body.current?.scrollIntoView();
    }
    followed.current = isAddressed;
  }, [isAddressed]);
  return (
    // A row that had the focus stays rendered, so that neither the focus nor a zoom or a search in it is lost.
    <tbody ref={body} id={caseId(name)} class={near || complete ? undefined : "far"} onFocusIn={keep}>
      <tr class="case" style={{ height: near || printing || kept === null ? null : `${kept}px` }}>
        <th scope="row">
          <button type="button" class="plain" aria-expanded={open} onClick={() => choose(!open)}>
            <span class="arrow" aria-hidden="true">
              {open ? "▾" : "▸"}
            </span>
            {name}
          </button>
          {mark}{" "}
          <a class="link" href={list.address(name)} aria-label={`Link to ${name}`} tabIndex={open ? 0 : -1}>
            #
          </a>
        </th>
        {near || complete ? cells() : <td colSpan={columns} />}
      </tr>
      {((near && open) || printing) && (
        <tr class="details" data-case={name}>
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
