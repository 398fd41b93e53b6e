import type { FleetAgent } from "../../core/records.ts";
import { ConfirmedButton } from "./ConfirmedButton.tsx";
import { JobName } from "./JobName.tsx";
import { Moment } from "./Moment.tsx";

const STATES = {
  busy: { sign: "●", meaning: "carries out a job" },
  idle: { sign: "○", meaning: "waits for a job" },
  draining: { sign: "◐", meaning: "finishes its job and takes no further one" },
  refused: { sign: "×", meaning: "is given no jobs, for the reason stated" },
  gone: { sign: "?", meaning: "has not reported for over a minute" },
} as const;

/** The agents of the fleet: what each of them runs and since when. */
export function AgentTable({
  agents,
  mayDrain,
  changed,
}: {
  agents: FleetAgent[];
  mayDrain: boolean;
  changed: () => void;
}) {
  return (
    <div class="wide">
      <table class="agents stacked">
        <thead>
          <tr>
            <th scope="col">agent</th>
            <th scope="col">platform</th>
            <th scope="col">state, since</th>
            <th scope="col">runs, since</th>
            <th scope="col">last report</th>
            {mayDrain && <th scope="col">drain</th>}
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent.name}>
              <th scope="row">
                {agent.name}
                <div class="quiet small">{agent.version !== "" && `zerolap ${agent.version}`}</div>
              </th>
              <td data-heading="platform">
                {agent.fingerprint === "" ? (
                  agent.platform
                ) : (
                  <a href={`/platforms/${encodeURIComponent(agent.fingerprint)}`}>{agent.platform}</a>
                )}
                <div class="quiet small">{agent.cpu}</div>
              </td>
              <td data-heading="state, since">
                <span class={`agent-state ${agent.state}`} title={STATES[agent.state].meaning}>
                  <span aria-hidden="true">{STATES[agent.state].sign} </span>
                  {agent.state}
                </span>{" "}
                <Moment at={agent.since} />
                {agent.refusal !== "" && <div class="warning small">{agent.refusal}</div>}
              </td>
              <td data-heading="runs, since">
                <Work agent={agent} />
              </td>
              <td data-heading="last report">
                <Moment at={agent.seen} />
              </td>
              {mayDrain && (
                <td data-heading="drain">
                  <Drain agent={agent} changed={changed} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Work({ agent: { runs, ran } }: { agent: FleetAgent }) {
  if (runs !== null) {
    return (
      <>
        <JobName job={runs} />, <Moment at={runs.since} />
      </>
    );
  }
  if (ran === null) {
    return <span class="quiet">nothing</span>;
  }
  return (
    <span class="quiet">
      nothing; its last job, {ran.state}: <JobName job={ran} />, <Moment at={ran.ended} />
    </span>
  );
}

function Drain({ agent: { name, draining }, changed }: { agent: FleetAgent; changed: () => void }) {
  const url = `/api/v1/fleet/agents/${encodeURIComponent(name)}`;
  return draining ? (
    <ConfirmedButton
      key="resume"
      label="Resume"
      question={`Have ${name} take jobs again?`}
      url={`${url}/resume`}
      done={changed}
    />
  ) : (
    <ConfirmedButton
      key="drain"
      label="Drain"
      question={`Have ${name} finish its job and take no further one?`}
      url={`${url}/drain`}
      done={changed}
    />
  );
}
