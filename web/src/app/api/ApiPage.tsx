import { useEffect, useState } from "preact/hooks";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { type Operation, operationsOf } from "./description.ts";
import "../fleet/fleet.css";
import "./api.css";

/** The HTTP API, from its OpenAPI description: each operation with its parameters and its answer. */
export default function ApiPage() {
  const answer = useAnswer<unknown>("/openapi.json");
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
      {shown.map((operation) => (
        <OperationSection key={`${operation.method} ${operation.path}`} operation={operation} />
      ))}
    </>
  );
}

function OperationSection({ operation }: { operation: Operation }) {
  const { method, path, summary, description, parameters, fields, needs, example } = operation;
  return (
    <section class="operation" id={operation.id}>
      <h2>
        <code>
          {method} {path}
        </code>
      </h2>
      <p>{summary}</p>
      {description !== "" && <p class="quiet">{description}</p>}
      {needs && <p class="quiet small">Needs a token.</p>}
      {example !== null && (
        <p class="small">
          <a href={example}>{example}</a>
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
