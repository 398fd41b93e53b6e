import { CheckList, Figure, Fold } from "../../core/cases/facts.tsx";
import { Bars } from "../../core/charts/Bars.tsx";
import { LatencyChart } from "../../core/charts/LatencyChart.tsx";
import { SliceChart } from "../../core/charts/SliceChart.tsx";
import { count, counted, duration, metricLabel, metricUnit, share } from "../../core/numbers.ts";
import { METRICS, type TrialDetails } from "../../core/records.ts";
import { Word } from "../../core/Word.tsx";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { useTitle } from "../navigation.ts";
import { trialQuery } from "../pageQueries.ts";
import { FactValue } from "../platforms/FactValue.tsx";
import { factName } from "../platforms/facts.ts";
import type { PageProps } from "../routes.ts";
import { TrialTable } from "./TrialTable.tsx";
import "../../core/cases/cases.css";

/** A trial: what it measured, when, where, and whether it counts. */
export default function TrialPage({ parts }: PageProps) {
  const number = parts.number ?? "";
  const answer = useAnswer<TrialDetails>(trialQuery(number));
  useTitle(`Trial ${number}`);
  return <Answered answer={answer}>{(trial) => <Shown trial={trial} />}</Answered>;
}

function Shown({ trial }: { trial: TrialDetails }) {
  const { request, path, case: name, side, sides, checks, log, missing } = trial;
  return (
    <>
      <Headline trial={trial} />
      {missing.map((text) => (
        <p key={text} class="warning">
          Not shown: {text}
        </p>
      ))}
      <Metrics trial={trial} />
      <Charts trial={trial} />
      <section>
        <CheckList checks={checks} />
      </section>
      <section>
        <h2>
          <Word of="start">Starts</Word> of this case
        </h2>
        <p class="quiet">
          Each trial starts the server anew, with its code at another <Word of="placement">place</Word>.
          Trials of one <Word of="block" /> belong together.
        </p>
        <TrialTable id={request} name={name} sides={sides} side={side} current={trial.number} />
      </section>
      <Environment trial={trial} />
      {log !== "" && (
        <section>
          <h2>End of the log</h2>
          <pre class="log">{log}</pre>
        </section>
      )}
      <p class="quiet small">
        <a href={`/${path}/${request}?${new URLSearchParams({ case: name })}`}>Back to the case</a> ·{" "}
        <a href={queryUrl("trial.csv", { number: trial.number })}>metrics as CSV</a>
      </p>
    </>
  );
}

function Headline({ trial }: { trial: TrialDetails }) {
  const { request, path, case: name, side, sides, engine, commands, began, seconds, valid } = trial;
  const noun = path === "runs" ? "run" : "comparison";
  return (
    <header>
      <p class="sides">
        <a href={`/${path}/${request}`}>
          {noun} {request}
        </a>{" "}
        › <a href={`/${path}/${request}?${new URLSearchParams({ case: name })}`}>{name}</a>
      </p>
      <h1>
        Trial {trial.number}: {name}
        {sides.length > 1 && `, ${side}`}
      </h1>
      <p>
        One start of the server under {commands.join(", ") || "no command"}, measured by the{" "}
        <Word of="engine" /> <b>{engine}</b>
        {began !== "" && ` from ${began.replace("T", " ").replace("Z", "")} (UTC)`}; it took{" "}
        {duration(seconds)}.{" "}
        {valid ? (
          "Its figures count."
        ) : (
          <b class="invalid">× Its figures do not count, since checks failed.</b>
        )}
      </p>
    </header>
  );
}

function Metrics({ trial: { metrics } }: { trial: TrialDetails }) {
  const names = Object.keys(metrics);
  const order = (name: string) => {
    const place = Object.keys(METRICS).indexOf(name);
    return place < 0 ? Number.MAX_SAFE_INTEGER : place;
  };
  if (names.length === 0) {
    return <p>No metric was measured.</p>;
  }
  return (
    <section>
      <h2>Metrics</h2>
      <dl class="figures">
        {names
          .sort((left, right) => order(left) - order(right))
          .map((name) => (
            <Figure
              key={name}
              name={metricLabel(name)}
              value={`${count(metrics[name] ?? null)} ${metricUnit(name)}`}
            />
          ))}
      </dl>
    </section>
  );
}

function Charts({ trial: { latency, bars, slices, together } }: { trial: TrialDetails }) {
  if (slices.length + bars.length === 0) {
    return null;
  }
  const apiece = together === 1 ? "a point a slice" : `a point for ${together} slices`;
  const [clients, servers] = [
    slices.map((slice) => slice.client_busy),
    slices.map((slice) => slice.server_busy),
  ];
  const disturbed = slices.filter((slice) => slice.is_disturbed).length;
  return (
    <section>
      <h2>Latency and slices</h2>
      <div class="pictures">
        <LatencyChart head={latency} />
        <Bars bars={bars} />
        <SliceChart
          title="Throughput"
          unit="requests per second"
          points={slices.map((slice) => [slice.at_seconds, slice.requests_per_sec])}
        />
        <SliceChart
          title="Server processors"
          unit="share of the time, %"
          points={slices.map((slice) => [slice.at_seconds, 100 * slice.server_busy])}
        />
        <SliceChart
          title="Client processors"
          unit="share of the time, %"
          points={slices.map((slice) => [slice.at_seconds, 100 * slice.client_busy])}
        />
      </div>
      <p class="quiet small">
        {counted(slices.length, "point", "points")}, {apiece}; a <Word of="slice" /> has a fixed number of
        requests. The server used {share(mean(servers))} of a processor on average, the client{" "}
        {share(mean(clients))}.{" "}
        {disturbed === 0
          ? "None was disturbed by other programs."
          : `${disturbed} were disturbed by other programs.`}
      </p>
    </section>
  );
}

function mean(values: number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function Environment({ trial }: { trial: TrialDetails }) {
  const { build, platform, placement, amounts, config, topology, load_host, instrument, zerolap, method } =
    trial;
  const settings = Object.entries(config);
  const chosen = Object.entries(amounts).filter(
    ([, value]) => value !== null && value !== false && value !== 1,
  );
  return (
    <section>
      <h2>Environment</h2>
      <dl class="facts">
        {placement !== "" && (
          <>
            <dt>
              <Word of="placement" />
            </dt>
            <dd>{placement}</dd>
          </>
        )}
        <dt>
          <Word of="topology" />
        </dt>
        <dd>{topology}</dd>
        {settings.length > 0 && (
          <>
            <dt>settings</dt>
            <dd>
              {settings.map(([name, value]) => (
                <code key={name}>
                  {name} {value}
                  <br />
                </code>
              ))}
            </dd>
          </>
        )}
        <dt>
          <Word of="build" />
        </dt>
        <dd>
          {build === null ? (
            "not recorded"
          ) : (
            <>
              {build.version} <code class="quiet">{build.build}</code>
              <br />
              {build.compiler} <code>{build.flags || "flags unknown"}</code>
              <br />
              <span class="quiet">
                {[
                  build.variant && `variant ${build.variant}`,
                  build.allocator && `allocator ${build.allocator}`,
                  build.libc,
                  build.architecture,
                  build.is_stripped ? "stripped" : "",
                ]
                  .filter(Boolean)
                  .join(", ")}
              </span>
            </>
          )}
        </dd>
        {chosen.length > 0 && (
          <>
            <dt>amounts</dt>
            <dd>
              {chosen.map(([name, value]) => `${name.replaceAll("_", " ")} ${written(value)}`).join(", ")}
            </dd>
          </>
        )}
        <dt>measured by</dt>
        <dd>
          {[
            `Zerolap ${zerolap || "of an unknown version"}`,
            `version ${method} of the method`,
            instrument,
            load_host && `load from ${load_host}`,
          ]
            .filter(Boolean)
            .join(", ")}
        </dd>
        <dt>
          <Word of="platform" />
        </dt>
        <dd>
          {platform === null ? (
            "not recorded"
          ) : (
            <>
              {platform.name}: {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel{" "}
              {platform.kernel}
            </>
          )}
        </dd>
      </dl>
      {platform !== null && (
        <Fold summary={`All ${Object.keys(platform.facts).length} facts of the machine at that time`}>
          <dl class="facts">
            {Object.entries(platform.facts).map(([name, value]) => (
              <FactRow key={name} name={name} value={value} />
            ))}
          </dl>
        </Fold>
      )}
    </section>
  );
}

function FactRow({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt title={name}>{factName(name)}</dt>
      <dd>
        <FactValue name={name} value={value} />
      </dd>
    </>
  );
}

function written(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
