import { useEffect, useState } from "preact/hooks";
import { useTitle } from "../navigation.ts";
import { NOT_LOADED, type PageProps } from "../routes.ts";
import { DETECTORS, detectorText, detectorUrl } from "./documents.ts";
import { type Block, blocksOf, type Span, spansOf } from "./markdown.ts";

/** The page of a detector: what it finds, how, and what it cannot see. */
export default function DetectorPage({ parts }: PageProps) {
  const name = parts.name ?? "";
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useTitle(name);
  useEffect(() => {
    let isLeft = false;
    setText(null);
    setFault(null);
    detectorText(name)?.then(
      (loaded) => !isLeft && setText(loaded),
      () => !isLeft && setFault(NOT_LOADED),
    );
    return () => {
      isLeft = true;
    };
  }, [name]);
  const known = detectorUrl(name) !== null;
  return (
    <>
      <p class="quiet small">
        <a href="/opportunities">Opportunities</a> · detectors:{" "}
        {DETECTORS.map((other, place) => (
          <span key={other}>
            {place > 0 && ", "}
            {other === name ? other : <a href={detectorUrl(other) ?? ""}>{other}</a>}
          </span>
        ))}
      </p>
      {!known && (
        <>
          <h1>{name}</h1>
          <p>The lab has no page on this detector: it is none of its own.</p>
        </>
      )}
      {fault !== null && <p class="warning">{fault}</p>}
      {known && text !== null && <Document text={text} />}
    </>
  );
}

function Document({ text }: { text: string }) {
  return (
    <div class="detail">
      {blocksOf(text).map((block, place) => (
        <BlockView key={place} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return <h1>{block.text}</h1>;
    case "code":
      return <pre>{block.text}</pre>;
    case "list":
      return (
        <ul>
          {block.items.map((item) => (
            <li key={item}>
              <Spans text={item} />
            </li>
          ))}
        </ul>
      );
    case "table":
      return (
        <div class="wide">
          <table>
            <thead>
              <tr>
                {block.head.map((cell) => (
                  <th key={cell} scope="col">
                    <Spans text={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((cells) => (
                <tr key={cells.join()}>
                  {cells.map((cell, place) => (
                    <td key={place}>
                      <Spans text={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    default:
      return (
        <p>
          <Spans text={block.text} />
        </p>
      );
  }
}

function Spans({ text }: { text: string }) {
  return (
    <>
      {spansOf(text).map((span, place) => (
        <SpanView key={place} span={span} />
      ))}
    </>
  );
}

function SpanView({ span }: { span: Span }) {
  switch (span.kind) {
    case "code":
      return <code>{span.text}</code>;
    case "strong":
      return <b>{span.text}</b>;
    case "link": {
      const url = span.target.startsWith("https://")
        ? span.target
        : detectorUrl(span.target.replace(/\.md.*$/, ""));
      // Other documents are not part of the lab.
      return url === null ? <span>{span.text}</span> : <a href={url}>{span.text}</a>;
    }
    default:
      return <>{span.text}</>;
  }
}
