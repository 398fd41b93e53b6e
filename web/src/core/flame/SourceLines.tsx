import type { ComponentChildren } from "preact";
import { count, counted, percent } from "../numbers.ts";
import type { AnnotatedLine, AnnotatedSide, LineShare, StackLines } from "../records.ts";
import "./lines.css";

/** The source lines of a function, each with its share of the function's own samples; below them, what else there is. */
export function SourceLines({ answer, children }: { answer: StackLines; children?: ComponentChildren }) {
  const absence = absenceText(answer);
  return (
    <div class="source-lines">
      <p class="strong small">
        Lines of <code>{answer.function}</code>
      </p>
      {absence === null ? <Lines answer={answer}>{children}</Lines> : <p class="quiet small">{absence}</p>}
    </div>
  );
}

function Lines({ answer, children }: { answer: StackLines; children: ComponentChildren }) {
  const { sides, lines } = answer;
  const compares = sides.length > 1;
  const file = answer.file ?? lines[0]?.file;
  return (
    <>
      <p class="quiet small">
        Shares of the samples in the function itself, without what it calls
        {compares && "; lines of one text are beside each other, also where their numbers differ"}.{" "}
        {sides.map((side) => sideText(side, compares)).join("; ")}. {restText(answer)} {children}
      </p>
      <table class="lines">
        <caption class="sr">Lines of {answer.function}</caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              line
            </th>
            <th scope="col">source</th>
            {sides.map(({ side }) => (
              <th key={side} scope="col" class="number">
                {compares ? side : "self"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={`${line.file} ${line.sides.map((side) => side.line).join()} ${line.text}`}>
              <th scope="row" class="number">
                {numberText(line)}
              </th>
              <td>
                {line.file !== file && <span class="quiet small">{line.file} </span>}
                {line.text === null ? <span class="quiet">not recorded</span> : <code>{line.text}</code>}
              </td>
              {line.sides.map((side) => (
                <Share key={side.side} {...side} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Share({ share, cpu_ns_per_op: cost }: LineShare) {
  return (
    <td class="number">
      {percent(share).replace(" ", "\u00a0")}
      {cost !== null && (
        <span class="quiet small" title="CPU time per request">
          {" "}
          {count(cost)}&nbsp;ns
        </span>
      )}
      <span class="line-bar" aria-hidden="true" style={{ width: `${100 * Math.min(1, share)}%` }} />
    </td>
  );
}

/** The number of a line, or both where they differ; a side without samples has none. */
function numberText({ sides }: AnnotatedLine): string {
  const numbers = [...new Set(sides.map(({ line }) => line?.toString() ?? "–"))];
  return numbers.join(" → ");
}

/** Why there are no lines, if there are none. */
function absenceText({ sides, lines }: StackLines): string | null {
  if (lines.length > 0) {
    return null;
  }
  if (sides.every((side) => side.lined_passes === 0)) {
    return "Lines were not recorded: the passes are of a version that did not record them.";
  }
  return "No sample has a line of it: it is none of the 60 functions with the most samples of their own, or has no line information.";
}

function sideText(answered: AnnotatedSide, compares: boolean): string {
  const { side, own, share, cpu_ns_per_op: cost, passes, lined_passes } = answered;
  const samples = counted(Math.round(own), "sample", "samples");
  const time = cost === null ? "" : `, ${count(cost)} ns per request`;
  const lacking = lined_passes < passes ? ` (${lined_passes} of ${passes} passes have lines)` : "";
  return `${compares ? `${side}: ` : ""}${samples}, ${percent(share)} of all${time}${lacking}`;
}

/** What no line has. */
function restText({ sides, lines, left_out }: StackLines): string {
  const rest = sides.map((_, place) =>
    Math.max(0, 1 - lines.reduce((sum, line) => sum + (line.sides[place]?.share ?? 0), 0)),
  );
  const unknown = rest.some((share) => share >= 0.001)
    ? `Samples whose line is not known: ${rest.map(percent).join(" → ")}.`
    : "";
  return left_out > 0
    ? `${unknown} ${counted(left_out, "line with fewer samples is", "lines with fewer samples are")} left out.`
    : unknown;
}
