import { useMemo, useState } from "preact/hooks";
import { count, counted } from "../numbers.ts";
import { present, type SideName, type StackTree } from "../pictures.ts";
import { Choice } from "./Choice.tsx";
import { FlameView, type ViewName } from "./FlameView.tsx";
import { FunctionTable } from "./FunctionTable.tsx";
import { mergedTree, threadNames } from "./tree.ts";

const ALL_THREADS = "";
const PHONE = "(max-width: 720px)";

interface Properties {
  base?: StackTree | null;
  head?: StackTree | null;
  /** There is but one server: it is not called a side. */
  alone?: boolean;
}

/** Where the CPU time of a case went, on one side or on both and between them. */
export function FlamePanel({ base = null, head = null, alone = false }: Properties) {
  const sides = useMemo(() => ({ base, head }), [base, head]);
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
          .map(([side, tree]) => (alone ? sampled(tree) : `${side}: ${sampled(tree)}`))
          .join("; ")}
      </p>
      <div class="filter">
        {views.length > 1 && <Choice label="View" values={views} chosen={view} choose={setView} />}
        {view === "difference" && (
          <label>
            widths of{" "}
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
          aria-label="Search functions and files, by a part or by /an expression/"
          placeholder="function, file or /expression/"
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
      <button type="button" class="plain" aria-expanded={listed} onClick={() => setListed(!listed)}>
        <span class="arrow" aria-hidden="true">
          {listed ? "▾" : "▸"}
        </span>
        Functions as a table
      </button>
      {listed && <FunctionTable tree={tree} />}
    </>
  );
}

function sampled(stacks: StackTree): string {
  const lost = stacks.lost > 0 ? `, ${count(stacks.lost)} lost` : "";
  const cost = stacks.cpu_ns_per_op === null ? "" : `, ${count(stacks.cpu_ns_per_op)} ns of CPU per request`;
  return `${counted(stacks.samples, "sample", "samples")} of ${stacks.event}${lost}${cost}`;
}
