/** Draws any sheet: the document's own titles, facts, sentences, tables, stacks and notes, as they are read everywhere. */

import { type ComponentChildren, Fragment } from "preact";
import { Addresses, Fold, Notes, Sentence } from "./cases/facts.tsx";
import { OUTCOMES, type Outcome, OutcomeMark } from "./cases/OutcomeMark.tsx";
import { IntervalChart, type Scale, scaleOf } from "./charts/IntervalChart.tsx";
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
import { Word } from "./Word.tsx";
import "./sheet.css";

interface Properties {
  sheet: SheetRecord;
  /** What stands in sections in place of what they consist of, by their keys. */
  drawn?: Drawn;
  /** The charts of the document, which stand above its tables. */
  children?: ComponentChildren;
}

type Drawn = Readonly<Record<string, (section: Section) => ComponentChildren>>;

/** A sheet below its title as the heading of the page. */
export function Sheet({ sheet, drawn = {}, children }: Properties) {
  return (
    <Addresses.Provider value={sheet.addresses}>
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
      <Tables section={sheet} level={2} />
      {sheet.sections.map((inner) => (
        <SheetSection key={inner.key + inner.title} section={inner} level={2} drawn={drawn[inner.key]} />
      ))}
      <Facts facts={sheet.closing} />
    </Addresses.Provider>
  );
}

interface ContentProperties {
  section: Section;
  /** The level of the headings in it. */
  level: number;
  /** Pictures, which stand below its tables. */
  children?: ComponentChildren;
}

/** What a section consists of, below its title. */
export function SheetContent({ section, level, children }: ContentProperties) {
  return (
    <>
      <Facts facts={section.facts} />
      <Sentences section={section} />
      <Tables section={section} level={level} />
      {children}
      {section.sections.map((inner) => (
        <SheetSection key={inner.key + inner.title} section={inner} level={level} />
      ))}
      <Notes notes={section.notes} />
    </>
  );
}

/** The tables and stacks in a section. */
function Tables({ section, level }: { section: Section; level: number }) {
  return (
    <>
      {section.tables.map((table) => (
        <SheetTable
          key={table.key + table.heading}
          table={table}
          level={level}
          label={`${section.title.replaceAll("`", "")} ${table.key}`}
        />
      ))}
      {section.stacks.map((stacks) => (
        <StackList key={stacks.heading} stacks={stacks} level={level} />
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
export function SheetSection({
  section,
  level,
  drawn,
}: ContentProperties & { drawn?: Drawn[string] | undefined }) {
  const { key, title, remark, mark } = section;
  const content = drawn?.(section) ?? <SheetContent section={section} level={level + 1} />;
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
  /** What the name of a row is shown in, such as a button, by its text and the place of the row. */
  named?: (shown: ComponentChildren, text: string, place: number) => ComponentChildren;
}

/** A table of a sheet, below its heading. */
export function SheetTable({ table, level = 3, label = "", named = (shown) => shown }: TableProperties) {
  const scale = scaleOf(table.rows.flat());
  return (
    <>
      {table.heading !== "" && <Heading level={level}>{table.heading}</Heading>}
      <WideTable label={table.heading || label}>
        <table class="unbroken-names">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column.key} scope="col" class={column.is_number ? "number" : ""}>
                  <Word of={column.key}>{titleOf(column)}</Word>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, place) => (
              <tr key={place}>
                {table.columns.map((column, index) => (
                  <SheetCell
                    key={column.key}
                    cell={cells[index]}
                    column={column}
                    scale={scale}
                    named={(shown, text) => named(shown, text, place)}
                  />
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

interface CellProperties {
  cell: Cell | undefined;
  column: Column;
  scale?: Scale;
  named?: (shown: ComponentChildren, text: string) => ComponentChildren;
}

export function SheetCell({ cell, column, scale, named = (shown) => shown }: CellProperties) {
  if (cell === undefined) {
    return <td />;
  }
  const shown = (
    <>
      <Marked {...cell} />
      {cell.detail !== "" && <span class="quiet"> {cell.detail}</span>}
      {cell.drawn !== null && scale !== undefined && (
        <>
          {" "}
          <IntervalChart
            drawn={cell.drawn}
            scale={scale}
            text={`${cell.text} ${cell.detail}`}
            mark={cell.mark}
          />
        </>
      )}
    </>
  );
  const content = cell.link === null ? shown : <a href={cell.link}>{shown}</a>;
  const names = [column.is_number && "number", column.is_code && "code", cell.is_part && "part"];
  const className = names.filter(Boolean).join(" ");
  return cell.is_name ? (
    <th scope="row" class={className}>
      {named(content, cell.text)}
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

export function isOutcome(mark: Cell["mark"]): mark is Outcome {
  return mark !== null && (OUTCOMES as readonly string[]).includes(mark);
}

function Facts({ facts }: { facts: Fact[] }) {
  if (facts.length === 0) {
    return null;
  }
  return (
    <dl class="facts">
      {facts.map(({ label, text }) => (
        <Fragment key={label + text}>
          <dt>
            <Word of={label} />
          </dt>
          <dd>
            <Sentence text={text} />
          </dd>
        </Fragment>
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
