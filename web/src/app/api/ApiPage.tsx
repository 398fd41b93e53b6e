import { useEffect, useState } from "preact/hooks";
import { counted } from "../../core/numbers.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { DESCRIPTION } from "../pageQueries.ts";
import { signInUrl } from "../signing-in/session.ts";
import { groupsOf, type Operation, operationsOf } from "./description.ts";
import "../fleet/fleet.css";
import "./api.css";

/** The HTTP API, from its OpenAPI description: each operation with its parameters and its answer. */
export default function ApiPage() {
  const answer = useAnswer<unknown>(DESCRIPTION);
  return (
    <>
      <h1>HTTP API</h1>
      <p>
        All that pages show is to be had as JSON, and tables and charts as CSV. Programs send a token as{" "}
        <code>Authorization: Bearer zl_…</code>; where everybody can read the pages, reading needs none.{" "}
        <a href="/openapi.json">/openapi.json</a> is the description that this page is made of (OpenAPI 3.1).
      </p>
      <Answered answer={answer}>
        {(description) => <Operations operations={operationsOf(description)} />}
      </Answered>
    </>
  );
}

function Operations({ operations }: { operations: Operation[] }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = operations.filter(({ path, summary }) => `${path} ${summary}`.toLowerCase().includes(wanted));
  const asked = location.hash.slice(1);
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <div class="filter">
        <input
          type="search"
          aria-label="Filter by path and summary"
          placeholder="path or summary"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span role="status" class="quiet">
          {shown.length} of {operations.length} operations
        </span>
      </div>
      {[...groupsOf(shown)].map(([group, operations]) => (
        <Group
          key={`${group} ${wanted === ""}`}
          name={group}
          operations={operations}
          openAtFirst={wanted !== "" || operations.some(({ id }) => id !== "" && id === asked)}
        />
      ))}
    </>
  );
}

/** Operations of a group, which are rendered when it is opened: there are too many to render all at once. */
function Group({
  name,
  operations,
  openAtFirst,
}: {
  name: string;
  operations: readonly Operation[];
  openAtFirst: boolean;
}) {
  const [isOpen, setOpen] = useState(openAtFirst);
  return (
    <details
      class="operations"
      open={isOpen}
      onToggle={(event) => event.target === event.currentTarget && setOpen(event.currentTarget.open)}
    >
      <summary>
        <h2>{name === "" ? "others" : name}</h2>{" "}
        <span class="quiet">
          {counted(operations.length, "operation", "operations")}
          {GROUPS[name] !== undefined && `: ${GROUPS[name]}`}
        </span>
      </summary>
      {isOpen &&
        operations.map((operation) => (
          <OperationSection key={`${operation.method} ${operation.path}`} operation={operation} />
        ))}
    </details>
  );
}

/** What operations of a group are for. */
const GROUPS: Record<string, string> = {
  comparisons: "ask for comparisons, follow and cancel them",
  triggers: "what led to requests",
  fleet: "platforms, agents and requests, and changes to them",
  session: "sign in and out in a browser",
  badges: "pictures for a README",
  reports: "documents of comparisons and runs as JSON, Markdown and HTML",
  pages: "all that pages show, as JSON and CSV; stacks for other programs",
};

function OperationSection({ operation }: { operation: Operation }) {
  const { group, method, path, summary, description, parameters, fields, needs, example } = operation;
  return (
    <section class="operation" id={operation.id}>
      <h3>
        <code>
          {method} {path}
        </code>
      </h3>
      <p>{summary}</p>
      {description !== "" && <p class="quiet">{description}</p>}
      {(needs || example !== null) && (
        <p class="small">
          {example !== null && <a href={example}>{example}</a>}{" "}
          {needs && (
            <span class="quiet">
              Needs a token
              {group === "pages" && ", unless everybody can read the pages of the lab"}
              {example !== null && (
                <>
                  : <a href={signInUrl()}>sign in</a> to follow the link
                </>
              )}
              .
            </span>
          )}
        </p>
      )}
      {parameters.length > 0 && (
        <Fields
          caption="Parameters"
          fields={parameters.map(({ name, type, isRequired, meaning }) => ({
            name,
            type: isRequired ? `${type}, required` : type,
            meaning,
          }))}
        />
      )}
      {fields.length > 0 && (
        <details>
          <summary>Answer</summary>
          <Fields caption="Fields of the answer" fields={fields} />
        </details>
      )}
    </section>
  );
}

function Fields({
  caption,
  fields,
}: {
  caption: string;
  fields: { name: string; type: string; meaning: string }[];
}) {
  return (
    <div class="wide">
      <table>
        <caption>{caption}</caption>
        <tbody>
          {fields.map(({ name, type, meaning }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{type}</td>
              <td class="quiet">{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
