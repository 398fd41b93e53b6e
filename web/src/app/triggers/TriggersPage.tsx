import { OutcomeMark } from "../../core/cases/OutcomeMark.tsx";
import { counted } from "../../core/numbers.ts";
import type { ListedTrigger, TriggerList } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { HeadSubject } from "../changes/CommitSubject.tsx";
import { Moment } from "../fleet/Moment.tsx";
import { setParameters } from "../navigation.ts";
import { triggersQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { triggerUrl } from "./links.ts";
import "../fleet/fleet.css";
import "./triggers.css";

const AGAIN_AFTER_MS = 10_000;
const STATES = {
  waiting: { sign: "…", meaning: "was not worked on yet" },
  working: { sign: "▸", meaning: "is worked on" },
  done: { sign: "✓", meaning: "has led to what it asked for" },
  refused: { sign: "⊘", meaning: "its actor has no permission, or it was out of date" },
  failed: { sign: "×", meaning: "could not be worked on" },
} as const;

/** Triggers: what was delivered, watched, scheduled or asked for, and what came of it. */
export default function TriggersPage({ parameters }: PageProps) {
  const asked = {
    state: parameters.get("state"),
    repository: parameters.get("repository"),
    number: parameters.get("number"),
    cursor: parameters.get("cursor"),
    trigger: parameters.get("trigger"),
  };
  const answer = useAnswer<TriggerList>(
    triggersQuery(parameters),
    asked.cursor === null ? AGAIN_AFTER_MS : undefined,
  );
  return (
    <>
      <h1>Triggers</h1>
      <p class="quiet">
        A trigger is what has the lab measure by itself: a webhook of GitHub, a commit on a watched branch, a
        schedule, or a request by the HTTP API.
      </p>
      <Answered answer={answer}>
        {(list) => (
          <>
            {asked.trigger === null ? (
              <Filter list={list} {...asked} />
            ) : (
              <p>
                Only the trigger <code>{asked.trigger}</code>. <a href="/triggers">All triggers</a>
              </p>
            )}
            {list.triggers.length === 0 ? <None list={list} /> : <TriggerTable triggers={list.triggers} />}
            <p class="paging">
              {asked.cursor !== null && (
                <button type="button" class="choice" onClick={() => setParameters({ cursor: null })}>
                  Newest
                </button>
              )}
              {list.cursor !== null && (
                <button type="button" class="choice" onClick={() => setParameters({ cursor: list.cursor })}>
                  Older
                </button>
              )}
            </p>
          </>
        )}
      </Answered>
      <p class="quiet small">
        <a href={triggersQuery(parameters, "triggers.csv")} download>
          CSV
        </a>
      </p>
    </>
  );
}

function None({ list: { counts } }: { list: TriggerList }) {
  return Object.keys(counts).length === 0 ? (
    <p>
      Nothing has triggered a measurement yet. <code>zerolap serve --triggers triggers.toml</code> has the lab
      listen to webhooks, watch branches and keep schedules.
    </p>
  ) : (
    <p>There is no such trigger.</p>
  );
}

function Filter({
  list: { counts, repositories },
  state,
  repository,
  number,
}: {
  list: TriggerList;
  state: string | null;
  repository: string | null;
  number: string | null;
}) {
  return (
    <div class="filter">
      <label>
        state{" "}
        <select
          value={state ?? ""}
          onChange={(event) => setParameters({ state: event.currentTarget.value, cursor: null })}
        >
          <option value="">all</option>
          {(Object.keys(STATES) as (keyof typeof STATES)[]).map((name) => (
            <option key={name} value={name}>
              {name} ({(counts[name] ?? 0).toLocaleString("en-US")})
            </option>
          ))}
        </select>
      </label>
      <label>
        repository{" "}
        <select
          value={repository ?? ""}
          onChange={(event) => setParameters({ repository: event.currentTarget.value, cursor: null })}
        >
          <option value="">all</option>
          {repositories.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        pull request{" "}
        <input
          type="number"
          min="1"
          placeholder="all"
          value={number ?? ""}
          onChange={(event) => setParameters({ number: event.currentTarget.value, cursor: null })}
        />
      </label>
    </div>
  );
}

function TriggerTable({ triggers }: { triggers: ListedTrigger[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">subject</th>
            <th scope="col">cause</th>
            <th scope="col">recorded</th>
            <th scope="col">state and reason</th>
            <th scope="col">what came of it</th>
          </tr>
        </thead>
        <tbody>
          {triggers.map((trigger) => (
            <tr key={trigger.id} id={trigger.id}>
              <th scope="row">
                <Subject trigger={trigger} />
                <div class="small number">
                  <a href={triggerUrl(trigger.id)}>{trigger.id}</a>
                </div>
              </th>
              <td data-heading="cause">
                {trigger.kind}
                {trigger.actor !== "" && <> by {trigger.actor}</>}
                {trigger.delivery !== "" && (
                  <div class="quiet small">
                    <abbr title={`GitHub's id of the delivery: ${trigger.delivery}`}>
                      delivery {trigger.delivery.slice(0, 8)}
                    </abbr>
                  </div>
                )}
              </td>
              <td data-heading="recorded">
                <Moment at={trigger.created} />
              </td>
              <td data-heading="state and reason" class="reason">
                <span class={`trigger-state ${trigger.state}`} title={STATES[trigger.state].meaning}>
                  <span aria-hidden="true">{STATES[trigger.state].sign} </span>
                  {trigger.state}
                </span>
                {trigger.reason !== "" && <div class="small">{trigger.reason}</div>}
                {trigger.tries > 1 && (
                  <div class="quiet small">
                    begun {counted(trigger.tries, "time", "times")} without an end
                  </div>
                )}
              </td>
              <td data-heading="what came of it">
                <Requests trigger={trigger} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a trigger is about; a pull request is linked to where the lab knows its GitHub. */
function Subject({ trigger: { subject, pull_request } }: { trigger: ListedTrigger }) {
  if (pull_request === null) {
    return <>{subject}</>;
  }
  return (
    <a href={pull_request} rel="noreferrer">
      {subject}
    </a>
  );
}

function Requests({ trigger: { requests, request_count, state } }: { trigger: ListedTrigger }) {
  if (requests.length === 0) {
    return <span class="quiet">{state === "done" ? "nothing to measure" : "nothing yet"}</span>;
  }
  return (
    <ul class="plain-list">
      {requests.map(({ id, path, state: reached, outcomes, head_commit }) => (
        <li key={id}>
          {reached === "removed" ? id : <a href={`/${path}/${id}`}>{id}</a>}{" "}
          {outcomes.length === 0
            ? reached
            : outcomes.map(({ outcome, count }) => (
                <span key={outcome} class="triggered-outcome">
                  <OutcomeMark outcome={outcome} cases={count} />{" "}
                </span>
              ))}
          <HeadSubject commit={head_commit} />
        </li>
      ))}
      {request_count > requests.length && (
        <li class="quiet">and {(request_count - requests.length).toLocaleString("en-US")} more</li>
      )}
    </ul>
  );
}
