import { useState } from "preact/hooks";
import { count, metricHeading } from "../../core/numbers.ts";
import { type ListedTrial, RUN_TABLE, type TrialList } from "../../core/records.ts";
import { Word } from "../../core/Word.tsx";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";

interface Properties {
  id: string;
  name: string;
  sides: string[];
  /** The trial that the page is of. */
  current?: number;
  /** Only this side at first. */
  side?: string;
}

/** The trials of a case, page by page: their sides, where their code lay, whether they count, and what they measured. */
export function TrialTable({ id, name, sides, current, side: first = "" }: Properties) {
  const [side, setSide] = useState(first);
  const [starts, setStarts] = useState([0]);
  const after = starts.at(-1) ?? 0;
  const parameters = { id, case: name, side, after };
  const answer = useAnswer<TrialList>(queryUrl("trials", parameters));
  return (
    <>
      {sides.length > 1 && (
        <p>
          <label>
            side{" "}
            <select
              value={side}
              onChange={(event) => {
                setSide(event.currentTarget.value);
                setStarts([0]);
              }}
            >
              <option value="">all</option>
              {sides.map((other) => (
                <option key={other} value={other}>
                  {other}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      <Answered answer={answer}>
        {({ trials, next_after }) => (
          <>
            <Shown trials={trials} current={current} />
            <p>
              {starts.length > 1 && (
                <button type="button" class="choice" onClick={() => setStarts(starts.slice(0, -1))}>
                  earlier trials
                </button>
              )}{" "}
              {next_after !== null && (
                <button type="button" class="choice" onClick={() => setStarts([...starts, next_after])}>
                  later trials
                </button>
              )}{" "}
              <a class="quiet small" href={queryUrl("trials.csv", parameters)}>
                CSV
              </a>
            </p>
          </>
        )}
      </Answered>
    </>
  );
}

function Shown({ trials, current }: { trials: ListedTrial[]; current: number | undefined }) {
  const metrics = RUN_TABLE.filter((metric) => trials.some((trial) => metric in trial.metrics));
  const isPlaced = trials.some(({ placement }) => placement !== "");
  if (trials.length === 0) {
    return <p>There are no trials of this side.</p>;
  }
  return (
    <div class="wide">
      <table class="trials">
        <thead>
          <tr>
            <th scope="col">
              <Word of="trial" />
            </th>
            <th scope="col">side</th>
            <th scope="col">
              <Word of="engine" />
            </th>
            <th scope="col" class="number">
              <Word of="block" />
            </th>
            <th scope="col">counts</th>
            <th scope="col">began (UTC)</th>
            {metrics.map((metric) => (
              <th key={metric} scope="col" class="number">
                {metricHeading(metric)}
              </th>
            ))}
            {isPlaced && (
              <th scope="col">
                <Word of="placement" />
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {trials.map((trial) => (
            <tr key={trial.number} aria-current={trial.number === current ? "true" : undefined}>
              <th scope="row">
                {trial.number === current ? (
                  `${trial.number} (this one)`
                ) : (
                  <a href={`/trials/${trial.number}`}>{trial.number}</a>
                )}
              </th>
              <td>{trial.side}</td>
              <td>
                {trial.engine}
                {trial.per_second !== null && ` at ${trial.per_second.toLocaleString("en-US")} requests/s`}
                {trial.load_host !== "" && ` from ${trial.load_host}`}
              </td>
              <td class="number">{trial.block}</td>
              <td>
                {trial.valid ? (
                  "yes"
                ) : (
                  <b class="invalid">× no: {trial.unreadable || trial.failed.join("; ")}</b>
                )}
              </td>
              <td class="quiet number">{trial.began.replace("T", " ").replace("Z", "")}</td>
              {metrics.map((metric) => (
                <td key={metric} class="number">
                  {metric in trial.metrics && count(trial.metrics[metric] ?? null)}
                </td>
              ))}
              {isPlaced && <td class="quiet">{trial.placement}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
