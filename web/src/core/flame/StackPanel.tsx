import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { present, type SideName, type Sides, type Stacks } from "../sides.ts";
import { FlameView, type ViewName } from "./FlameView.tsx";
import { type CaseCounts, FunctionTable } from "./FunctionTable.tsx";
import { PRUNED } from "./functions.ts";
import { Sandwich } from "./Sandwich.tsx";
import { bottomUp } from "./sandwich.ts";
import { type Matcher, matcher } from "./search.ts";
import { type FlameFrame, type FlameTree, frameKey, isFunction, mergedTree, threadNames } from "./tree.ts";
import "./flame.css";

const ALL_THREADS = "";
const PHONE = "(max-width: 720px)";
const SHAPES = ["icicle", "flame graph", "bottom-up"] as const;

interface Properties {
  sides: Sides<Stacks>;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
  cases?: CaseCounts;
  /** Whether the table of functions is open from the start. */
  listed?: boolean;
  /** The function whose callers and callees are shown first, by its key. */
  chosen?: string | null;
  onChosen?: (key: string | null) => void;
  /** What more there is of a chosen function. */
  details?: (frame: FlameFrame) => ComponentChildren;
  /** The functions whose source lines are among it. */
  lined?: readonly FlameFrame[];
}

/** Stacks as graphs and as a table of functions, with the callers and callees of one that is chosen. */
export function StackPanel(properties: Properties) {
  const { sides, alone, cases, chosen: chosenFirst = null, onChosen, details, lined = [] } = properties;
  const names = present(sides).map(([side]) => side);
  const threads = useMemo(() => threadNames(sides), [sides]);
  const [thread, setThread] = useState(threads.length === 1 ? (threads[0] ?? ALL_THREADS) : ALL_THREADS);
  const isKnown = thread === ALL_THREADS || threads.includes(thread);
  const tree = useMemo(
    () => mergedTree(sides, thread === ALL_THREADS || !isKnown ? null : thread),
    [sides, thread, isKnown],
  );
  const views: ViewName[] = names.length === 2 ? ["difference", "base", "head"] : names;
  const [wantedView, setView] = useState<ViewName>(views[0] ?? "head");
  const view = views.includes(wantedView) ? wantedView : (views[0] ?? "head");
  const [widths, setWidths] = useState<SideName>("head");
  const [shape, setShape] = useState<(typeof SHAPES)[number]>("icicle");
  const [text, setText] = useState("");
  const search = useMemo(() => searchFor(text), [text]);
  const [listed, setListed] = useState(() => properties.listed ?? matchMedia(PHONE).matches);
  const [chosen, setChosen] = useState<string | null>(chosenFirst);
  const input = useRef<HTMLInputElement>(null);
  const below = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => (shape === "bottom-up" ? bottomUp(tree) : tree), [tree, shape]);
  const side = view === "difference" ? widths : view;
  useEffect(() => setChosen(chosenFirst), [chosenFirst]);

  const choose = (key: string | null) => {
    setChosen(key);
    onChosen?.(key);
    if (key !== null) {
      requestAnimationFrame(() => below.current?.scrollIntoView({ block: "nearest" }));
    }
  };
  const frame = chosen === null ? -1 : tree.frames.findIndex((known) => frameKey(known) === chosen);
  return (
    <>
      <div class="filter">
        {views.length > 1 && <Choice label="View" values={views} chosen={view} choose={setView} />}
        {view === "difference" && (
          <label>
            frame widths from{" "}
            <select value={widths} onChange={(event) => setWidths(event.currentTarget.value as SideName)}>
              <option title="after the change">head</option>
              <option title="before the change: with the frames that have vanished">base</option>
            </select>
          </label>
        )}
        <Choice label="Graph" values={SHAPES} chosen={shape} choose={setShape} />
        {threads.length > 1 && (
          <select
            aria-label="Thread"
            value={isKnown ? thread : ALL_THREADS}
            onChange={(event) => setThread(event.currentTarget.value)}
          >
            <option value={ALL_THREADS}>all threads</option>
            {threads.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <input
          ref={input}
          type="search"
          aria-label="Search functions and files by a part of the name or by a /regular expression/"
          placeholder="function, file or /regular expression/"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {search.fault !== null && <span role="status">{search.fault}</span>}
      </div>
      <FlameView
        key={`${thread} ${shape === "bottom-up"}`}
        tree={shown}
        view={view}
        side={side}
        alone={alone}
        shape={shape === "flame graph" ? "flame graph" : "icicle"}
        matcher={search.matcher}
        subject={shape === "bottom-up" ? "functions with their callers" : ""}
        search={() => input.current?.focus()}
        choose={(chosenFrame) => {
          if (isFunction(chosenFrame) && chosenFrame.object !== PRUNED) {
            choose(frameKey(chosenFrame));
          }
        }}
      />
      {lined.length > 0 && (
        <p class="small">
          Source lines of{" "}
          {lined.map((of, place) => (
            <span key={frameKey(of)}>
              {place > 0 && ", "}
              <button
                type="button"
                class="plain function"
                aria-pressed={frameKey(of) === chosen}
                onClick={() => choose(frameKey(of))}
              >
                <code>{of.function}</code>
              </button>
            </span>
          ))}
        </p>
      )}
      <div ref={below}>
        {frame >= 0 && (
          <Sandwich
            tree={tree}
            frame={frame}
            view={view}
            side={side}
            alone={alone}
            choose={choose}
            close={() => choose(null)}
          >
            {details?.(tree.frames[frame] as FlameFrame)}
          </Sandwich>
        )}
      </div>
      <Functions
        tree={tree}
        matcher={search.matcher}
        cases={cases ?? null}
        chosen={chosen}
        choose={choose}
        listed={listed}
        setListed={setListed}
      />
    </>
  );
}

interface FunctionsProperties {
  tree: FlameTree;
  matcher: Matcher | null;
  cases: CaseCounts | null;
  chosen: string | null;
  choose: (key: string) => void;
  listed: boolean;
  setListed: (listed: boolean) => void;
}

function Functions({ listed, setListed, ...table }: FunctionsProperties) {
  return (
    <>
      <button type="button" class="plain unfold" aria-expanded={listed} onClick={() => setListed(!listed)}>
        <span class="arrow" aria-hidden="true">
          {listed ? "▾" : "▸"}
        </span>
        Functions as a table
      </button>
      {listed && <FunctionTable {...table} />}
    </>
  );
}

function searchFor(text: string): { matcher: Matcher | null; fault: string | null } {
  try {
    return { matcher: matcher(text), fault: null };
  } catch {
    return { matcher: null, fault: "Not a valid regular expression." };
  }
}

interface ChoiceProperties<Value extends string> {
  label: string;
  values: readonly Value[];
  chosen: Value;
  choose: (value: Value) => void;
}

/** A row of buttons of which one is pressed. */
export function Choice<Value extends string>({ label, values, chosen, choose }: ChoiceProperties<Value>) {
  return (
    <fieldset class="choices">
      <legend class="sr">{label}</legend>
      {values.map((value) => (
        <button
          key={value}
          type="button"
          class="choice"
          aria-pressed={value === chosen}
          onClick={() => choose(value)}
        >
          {value}
        </button>
      ))}
    </fieldset>
  );
}
