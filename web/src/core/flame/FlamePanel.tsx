import { useMemo, useState } from "preact/hooks";
import type { StackSource } from "../cases/documents.ts";
import { count, counted } from "../numbers.ts";
import { present, type SideName, type Stacks } from "../sides.ts";
import { FlameView, type ViewName } from "./FlameView.tsx";
import { FunctionTable } from "./FunctionTable.tsx";
import { mergedTree, threadNames } from "./tree.ts";

const ALL_THREADS = "";
const PHONE = "(max-width: 720px)";

interface Properties {
  source: StackSource;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
}

/** The flame graphs of a case: of each side, and of the difference between them. */
export function FlamePanel({ source, alone }: Properties) {
  const sides = useMemo(() => source.read(), [source]);
  const names = present(sides).map(([side]) => side);
  const threads = useMemo(() => threadNames(sides), [sides]);
  const only = threads.length === 1 ? (threads[0] ?? ALL_THREADS) : ALL_THREADS;
  const [thread, setThread] = useState(only);
  const tree = useMemo(() => mergedTree(sides, thread === ALL_THREADS ? null : thread), [sides, thread]);
  const views: ViewName[] = names.length === 2 ? ["difference", "base", "head"] : names;
  const [view, setView] = useState<ViewName>(views[0] ?? "head");
  const [widths, setWidths] = useState<SideName>("head");
  const [text, setText] = useState("");
  const [listed, setListed] = useState(() => matchMedia(PHONE).matches);
  if (names.length === 0) {
    return null;
  }
  return (
    <>
      <h3>Where the CPU time goes</h3>
      <p class="quiet small">
        {present(sides)
          .map(([side, stacks]) => (alone ? sampleText(stacks) : `${side}: ${sampleText(stacks)}`))
          .join("; ")}
      </p>
      <div class="filter">
        {views.length > 1 && <Choice label="View" values={views} chosen={view} choose={setView} />}
        {view === "difference" && (
          <label>
            frame widths from{" "}
            <select value={widths} onChange={(event) => setWidths(event.currentTarget.value as SideName)}>
              <option>head</option>
              <option>base</option>
            </select>
          </label>
        )}
        {threads.length > 1 && (
          <select
            aria-label="Thread"
            value={thread}
            onChange={(event) => setThread(event.currentTarget.value)}
          >
            <option value={ALL_THREADS}>all threads</option>
            {threads.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <input
          type="search"
          aria-label="Search functions and files by a part of the name or by a /regular expression/"
          placeholder="function, file or /regular expression/"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <FlameView
        key={thread}
        tree={tree}
        view={view}
        side={view === "difference" ? widths : view}
        alone={alone}
        text={text}
      />
      <button type="button" class="plain unfold" aria-expanded={listed} onClick={() => setListed(!listed)}>
        <span class="arrow" aria-hidden="true">
          {listed ? "▾" : "▸"}
        </span>
        Functions as a table
      </button>
      {listed && <FunctionTable tree={tree} />}
    </>
  );
}

function sampleText(stacks: Stacks): string {
  const lost = stacks.lost > 0 ? `, ${count(stacks.lost)} lost` : "";
  const cost = stacks.cpu_ns_per_op === null ? "" : `, ${count(stacks.cpu_ns_per_op)} CPU ns per request`;
  return `${counted(stacks.samples, "sample", "samples")} of ${stacks.event}${lost}${cost}`;
}

interface ChoiceProperties<Value extends string> {
  label: string;
  values: readonly Value[];
  chosen: Value;
  choose: (value: Value) => void;
}

/** A row of buttons of which one is pressed. */
function Choice<Value extends string>({ label, values, chosen, choose }: ChoiceProperties<Value>) {
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
