import { useMemo } from "preact/hooks";
import { Sentence } from "../../core/cases/facts.tsx";
import { StackPanel } from "../../core/flame/StackPanel.tsx";
import { frameKey } from "../../core/flame/tree.ts";
import { Waits } from "../../core/flame/Waits.tsx";
import { counted, percent } from "../../core/numbers.ts";
import type { NamedLines, StackProfile } from "../../core/records.ts";
import { setParameters } from "../navigation.ts";
import { FunctionLines } from "./FunctionLines.tsx";
import { caseCountsOf, prunedText, sidesOf, sideText } from "./profile.ts";
import { queryOf, type Selection, stacksUrl } from "./selection.ts";

interface Properties {
  profile: StackProfile;
  selection: Selection;
  /** The function whose callers and callees are shown, by its key. */
  chosen: string | null;
}

/** The graphs of a profile, what it is made of, and its files for other programs. */
export function ProfileView({ profile, selection, chosen }: Properties) {
  const sides = useMemo(() => sidesOf(profile), [profile]);
  const cases = useMemo(() => caseCountsOf(profile), [profile]);
  if (profile.cases.length === 0) {
    return <LeftOut profile={profile} isOpen />;
  }
  const pruned = prunedText(profile);
  const alone = profile.sides.length === 1;
  return (
    <>
      <p class="quiet small">
        {profile.sides.map((side) => (alone ? "" : `${side.side}: `) + sideText(side, profile)).join("; ")}.{" "}
        {pruned}{" "}
        {pruned !== null && (
          <a href={stacksUrl({ ...selection, leastShare: "0" })} title="as many as can be shown">
            show them
          </a>
        )}
      </p>
      {profile.time === "waits" ? (
        <Waits waits={sides} alone={alone} listed />
      ) : (
        <>
          <StackPanel
            sides={sides}
            alone={alone}
            listed
            chosen={chosen}
            onChosen={(key) => setParameters({ function: key })}
            details={(frame) => <FunctionLines frame={frame} selection={selection} />}
            {...(cases === undefined ? {} : { cases })}
          />
          <SourceLines lines={profile.lines} chosen={chosen} result={selection.id} />
        </>
      )}
      <Exports profile={profile} selection={selection} />
      {(profile.cases.length > 1 || profile.left_out.length > 0) && <Weights profile={profile} />}
      <LeftOut profile={profile} />
    </>
  );
}

interface LinesProperties {
  lines: readonly NamedLines[];
  chosen: string | null;
  result: string | null;
}

/** The lines that findings name. */
function SourceLines({ lines, chosen, result }: LinesProperties) {
  const shown = chosen === null ? lines : lines.filter((named) => isOf(named, chosen));
  return (
    <section>
      <h2>Lines of source code</h2>
      <p class="quiet small">
        A function that is chosen in the graph or the table shows its lines with their samples. What the
        findings of a comparison say of lines is listed here.
      </p>
      {shown.length === 0 ? (
        <p class="small">No finding names lines{chosen === null ? "" : " of the chosen function"}.</p>
      ) : (
        <ul class="small">
          {shown.map((named) => (
            <li key={`${named.case} ${named.function} ${named.lines.join()}`}>
              <a href={`/comparisons/${result}?case=${encodeURIComponent(named.case)}`}>{named.case}</a>:{" "}
              <code>
                {named.function} {named.file}:{named.lines.join(", ")}
              </code>{" "}
              <span class="quiet">
                <Sentence text={named.text} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function isOf(named: NamedLines, chosen: string): boolean {
  return frameKey({ function: named.function, file: named.file, object: "" }) === chosen;
}

const FORMATS = [
  ["speedscope.json", "speedscope", "JSON of speedscope, which is opened with its Browse button"],
  ["firefox.json", "Firefox Profiler", "JSON of profiler.firefox.com, which is opened with Load a profile"],
] as const;
const FORMATS_OF_A_SIDE = [
  ["pb.gz", "pprof", "protobuf for go tool pprof; two files are compared with -diff_base"],
  ["folded.txt", "folded", "lines for flamegraph.pl, inferno and difffolded.pl"],
  ["callgrind", "callgrind", "a profile for callgrind_annotate and KCachegrind"],
  ["svg", "SVG", "a picture of the flame graph, which needs no scripts"],
] as const;

function Exports({ profile, selection }: { profile: StackProfile; selection: Selection }) {
  const url = (ending: string, side?: string) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...queryOf(selection), side: side ?? null })) {
      if (value !== null) {
        parameters.set(name, value);
      }
    }
    return `/api/v1/stacks.${ending}?${parameters}`;
  };
  return (
    <section>
      <h2>Files for other programs</h2>
      <ul class="exports small">
        {FORMATS.map(([ending, name, title]) => (
          <li key={ending}>
            <a href={url(ending)} title={title} download>
              {name}
            </a>
          </li>
        ))}
        {FORMATS_OF_A_SIDE.flatMap(([ending, name, title]) =>
          profile.sides.map(({ side }) => (
            <li key={`${ending} ${side}`}>
              <a href={url(ending, side)} title={title} download>
                {name}
                {profile.sides.length > 1 && `, ${side}`}
              </a>
            </li>
          )),
        )}
      </ul>
    </section>
  );
}

const WEIGHTS = {
  time: "Cases count by the CPU time of one of their requests: the graph is of a request of each case.",
  case: "All cases count the same, whatever their requests cost.",
};

function Weights({ profile }: { profile: StackProfile }) {
  const results = new Set(profile.cases.map((profiled) => profiled.result)).size;
  const several = results > 1;
  const names = new Set(profile.cases.map((profiled) => profiled.case)).size;
  return (
    <details class="small">
      <summary>
        Weights of {counted(names, "case", "cases")}
        {several && ` in ${counted(results, "result", "results")}`}
      </summary>
      <p>
        {WEIGHTS[profile.weights]}
        {several && " A case that several results have counts once, in equal parts of them."}
      </p>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">case</th>
              {several && <th scope="col">result</th>}
              {profile.sides.map(({ side }) => (
                <th key={side} scope="col" class="number">
                  weight{profile.sides.length > 1 && ` of ${side}`}, samples, passes
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {profile.cases.map((profiled) => (
              <tr key={`${profiled.result} ${profiled.case}`}>
                <th scope="row">
                  <a href={linkOf(profiled)}>{profiled.case}</a>
                </th>
                {several && <td>{profiled.result}</td>}
                {profiled.sides.map((side) => (
                  <td key={side.side} class="number">
                    {percent(side.weight)}, {side.samples.toLocaleString("en-US")}, {side.passes} of{" "}
                    {side.recorded_passes}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function linkOf(profiled: { case: string; result: string }): string {
  return `/stacks?${new URLSearchParams({ id: profiled.result, case: profiled.case })}`;
}

function LeftOut({ profile, isOpen = false }: { profile: StackProfile; isOpen?: boolean }) {
  if (profile.left_out.length === 0) {
    return isOpen ? <p>There are no stacks here.</p> : null;
  }
  return (
    <details class="small" open={isOpen}>
      <summary>{counted(profile.left_out.length, "case is", "cases are")} left out</summary>
      <ul>
        {profile.left_out.map((left) => (
          <li key={`${left.result} ${left.case}`}>
            {left.case} of {left.result}: {left.reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
