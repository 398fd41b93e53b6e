/** Chooses series: cases by name, command or group, metrics, and the histories of platforms. */

import { useRef, useState } from "preact/hooks";
import { counted, metricLabel } from "../../core/numbers.ts";
import type { PublishedHistory, SeriesCase, SeriesList } from "../../core/records.ts";
import { setParameters } from "../navigation.ts";

const ROW_PIXELS = 30;
const LIST_PIXELS = 300;
const BEYOND = 8;

/** What is chosen, as the address has it. */
export interface Chosen {
  cases: readonly string[];
  metrics: readonly string[];
  histories: readonly string[];
}

export function SeriesPicker({ list, chosen }: { list: SeriesList; chosen: Chosen }) {
  const [text, setText] = useState("");
  const [group, setGroup] = useState("");
  const matching = list.cases.filter((of) => matches(of, text, group));
  const groups = [...new Set(list.cases.map((of) => of.group))].sort();
  return (
    <div class="series-picker">
      <search class="filter">
        <input
          type="search"
          aria-label="Filter by case, command or group"
          placeholder="case, command or group"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select aria-label="Group" value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
          <option value="">all groups</option>
          {groups.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span class="quiet small">{counted(matching.length, "case", "cases")}</span>
        <button
          type="button"
          class="choice"
          disabled={chosen.cases.length === 0}
          onClick={() => setParameters({ case: [], group: [] })}
        >
          none
        </button>
      </search>
      <CaseChoice
        cases={matching}
        chosen={chosen.cases}
        onToggle={(name) => setParameters({ case: toggled(chosen.cases, name) })}
      />
      <fieldset class="picks">
        <legend>metrics</legend>
        {list.metrics.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.metrics.includes(name)}
              onChange={() => setParameters({ metric: toggled(chosen.metrics, name) })}
            />{" "}
            {metricLabel(name)}
          </label>
        ))}
      </fieldset>
      <fieldset class="picks">
        <legend>histories: platform, variant, range of commits</legend>
        {list.histories.map((history) => (
          <label key={history.number} title={`${history.repository}, judged ${history.created}`}>
            <input
              type="checkbox"
              checked={chosen.histories.includes(String(history.number))}
              onChange={() => setParameters({ history: toggled(chosen.histories, String(history.number)) })}
            />{" "}
            {historyName(history)}
          </label>
        ))}
        {chosen.histories.length === 0 && (
          <span class="quiet small">none is chosen: the newest of each platform and variant is shown</span>
        )}
      </fieldset>
    </div>
  );
}

/** A history in a few words. */
export function historyName(history: PublishedHistory): string {
  const settings = Object.entries(history.config).map(([name, value]) => `${name} ${value}`);
  const variant = history.variant === "default" ? "default build" : history.variant;
  return [history.platform_name, variant, history.range, ...settings].join(", ");
}

function matches(of: SeriesCase, text: string, group: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const names = [of.case, of.group, ...of.commands].join(" ").toLowerCase();
  return (group === "" || of.group === group) && words.every((word) => names.includes(word));
}

function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
}

interface CaseChoiceProperties {
  cases: readonly SeriesCase[];
  chosen: readonly string[];
  onToggle: (name: string) => void;
}

/** The cases, of which those in the window of the list are drawn. */
function CaseChoice({ cases, chosen, onToggle }: CaseChoiceProperties) {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - BEYOND);
  const last = Math.min(cases.length, Math.ceil((top + LIST_PIXELS) / ROW_PIXELS) + BEYOND);
  return (
    <section
      ref={frame}
      class="case-choice"
      aria-label="Cases"
      style={{ maxHeight: `${LIST_PIXELS}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${cases.length * ROW_PIXELS}px`, position: "relative" }}>
        {cases.slice(first, last).map((of, index) => (
          <label
            key={of.case}
            style={{
              position: "absolute",
              top: `${(first + index) * ROW_PIXELS}px`,
              height: `${ROW_PIXELS}px`,
            }}
          >
            <input type="checkbox" checked={chosen.includes(of.case)} onChange={() => onToggle(of.case)} />{" "}
            {of.case}{" "}
            <span class="quiet small">
              {of.group}: {of.commands.join(" ")}
            </span>
          </label>
        ))}
      </div>
    </section>
  );
}
