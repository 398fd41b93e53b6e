/** Draws any sheet: the document's own titles, facts, sentences, tables, stacks and notes, as they are read everywhere. */

import type { ComponentChildren } from "preact";
import { Fold, Notes, Sentence } from "./cases/facts.tsx";
import { OUTCOMES, type Outcome, OutcomeMark } from "./cases/OutcomeMark.tsx";
import { withArrows } from "./numbers.ts";
import type {
  Cell,
  Column,
  Fact,
  Section,
  Sheet as SheetRecord,
  Sentence as SheetSentence,
  Stacks,
  Table,
} from "./records.ts";
import { WideTable } from "./WideTable.tsx";
import "./sheet.css";

interface Properties {
  sheet: SheetRecord;
  /** The charts of the document, which stand above its tables. */
  children?: ComponentChildren;
}

/** A sheet below its title as the heading of the page. */
export function Sheet({ sheet, children }: Properties) {
  return (
    <>
      <h1>
        <Sentence text={sheet.title} />
        {sheet.continuation !== "" && (
          <>
            {"; "}
            <Sentence text={sheet.continuation} />
          </>
        )}
      </h1>
      {sheet.remark !== "" && (
        <p class="quiet">
          <Sentence text={sheet.remark} />
        </p>
      )}
      <Facts facts={sheet.facts} />
      <Sentences section={sheet} />
      <Notes notes={sheet.notes} />
      {children}
      <Figures section={sheet} level={2} />
      <Facts facts={sheet.closing} />
    </>
  );
}

/** What a section consists of, below its title; `level` is that of the headings in it. */
export function SheetContent({ section, level }: { section: Section; level: number }) {
  return (
    <>
      <Facts facts={section.facts} />
      <Sentences section={section} />
      <Figures section={section} level={level} />
      <Notes notes={section.notes} />
    </>
  );
}

/** The tables, stacks and sections in a section. */
function Figures({ section, level }: { section: Section; level: number }) {
  return (
    <>
      {section.tables.map((table) => (
        <SheetTable key={table.key + table.heading} table={table} level={level} label={section.title} />
      ))}
      {section.stacks.map((stacks) => (
        <StackList key={stacks.heading} stacks={stacks} level={level} />
      ))}
      {section.sections.map((inner) => (
        <SheetSection key={inner.key + inner.title} section={inner} level={level} />
      ))}
    </>
  );
}

function Sentences({ section }: { section: Section }) {
  if (section.sentences.length === 0) {
    return null;
  }
  const List = section.is_ranked ? "ol" : "ul";
  return (
    <List>
      {section.sentences.map((sentence) => (
        <ListedSentence key={sentence.label + sentence.text} sentence={sentence} />
      ))}
    </List>
  );
}

function ListedSentence({ sentence: { label, text, mark, links } }: { sentence: SheetSentence }) {
  return (
    <li class={mark ?? ""}>
      {label !== "" && (
        <b>
          <Sentence text={label} />:{" "}
        </b>
      )}
      <Sentence text={text} />
      {links.map((link) => (
        <a key={link.address} href={link.address}>
          {" "}
          <Sentence text={link.text} />
        </a>
      ))}
    </li>
  );
}

/** A part of a sheet, below its title. */
export function SheetSection({ section, level }: { section: Section; level: number }) {
  const { key, title, remark, mark } = section;
  const content = <SheetContent section={section} level={level + 1} />;
  if (section.is_folded) {
    return <Fold summary={title}>{content}</Fold>;
  }
  return (
    <section id={key === "" ? undefined : key}>
      {title !== "" && (
        <Heading level={level}>
          <Sentence text={title} /> {isOutcome(mark) && <OutcomeMark outcome={mark} />}{" "}
          <small class={isOutcome(mark) ? "quiet" : (mark ?? "quiet")}>
            <Sentence text={remark} />
          </small>
        </Heading>
      )}
      {content}
    </section>
  );
}

interface TableProperties {
  table: Table;
  level?: number;
  /** What it is called where it has no heading. */
  label?: string;
}

/** A table of a sheet, below its heading. */
export function SheetTable({ table, level = 3, label = "" }: TableProperties) {
  return (
    <>
      {table.heading !== "" && <Heading level={level}>{table.heading}</Heading>}
      <WideTable label={table.heading || label}>
        <table class="unbroken-names">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column.key} scope="col" class={column.is_number ? "number" : ""}>
                  {titleOf(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, place) => (
              <tr key={place}>
                {table.columns.map((column, index) => (
                  <SheetCell key={column.key} cell={cells[index]} column={column} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </WideTable>
      {table.left_out > 0 && <p class="quiet">{table.left_out.toLocaleString("en")} more are not listed.</p>}
      {table.remark !== "" && (
        <p class="quiet">
          <Sentence text={table.remark} />
        </p>
      )}
    </>
  );
}

function titleOf({ heading, detail, unit }: Column): string {
  const whole = detail === "" ? heading : `${heading}: ${detail}`;
  return unit === "" ? whole : `${whole}, ${unit}`;
}

export function SheetCell({ cell, column }: { cell: Cell | undefined; column: Column }) {
  if (cell === undefined) {
    return <td />;
  }
  const shown = (
    <>
      <Marked {...cell} />
      {cell.detail !== "" && <span class="quiet"> {cell.detail}</span>}
    </>
  );
  const content = cell.link === null ? shown : <a href={cell.link}>{shown}</a>;
  const names = [column.is_number && "number", column.is_code && "code", cell.is_part && "part"];
  const className = names.filter(Boolean).join(" ");
  return cell.is_name ? (
    <th scope="row" class={className}>
      {content}
    </th>
  ) : (
    <td class={className}>{content}</td>
  );
}

/** The text of a cell, by what it stands for. */
export function Marked({ mark, text, is_name }: Pick<Cell, "mark" | "text" | "is_name">) {
  if (isOutcome(mark)) {
    return <OutcomeMark outcome={mark} text={text} />;
  }
  const shown = is_name && text !== "" ? <code>{text}</code> : withArrows(text);
  return mark === null ? <>{shown}</> : <span class={mark}>{shown}</span>;
}

function isOutcome(mark: Cell["mark"]): mark is Outcome {
  return mark !== null && (OUTCOMES as readonly string[]).includes(mark);
}

function Facts({ facts }: { facts: Fact[] }) {
  if (facts.length === 0) {
    return null;
  }
  return (
    <dl class="facts">
      {facts.map(({ label, text }) => (
        <div key={label + text}>
          <dt>{label}</dt>
          <dd>
            <Sentence text={text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function StackList({ stacks, level }: { stacks: Stacks; level: number }) {
  return (
    <>
      <Heading level={level}>{stacks.heading}</Heading>
      <ul>
        {stacks.stacks.map(({ share, label, frames }) => (
          <li key={label + share + frames.join()}>
            {share} <span class="quiet">{label}</span> <code class="small">{frames.join(" ← ")}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  const Tag = `h${Math.min(level, 6)}` as "h2" | "h3" | "h4" | "h5" | "h6";
  return <Tag>{children}</Tag>;
}
