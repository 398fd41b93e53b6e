/** The part of Markdown that the pages of detectors are written in, as blocks and spans. */

export type Block =
  | { kind: "heading"; text: string }
  | { kind: "paragraph"; text: string }
  | { kind: "code"; text: string }
  | { kind: "list"; items: string[] }
  | { kind: "table"; head: string[]; rows: string[][] };

export type Span =
  | { kind: "text" | "code" | "strong"; text: string }
  | { kind: "link"; text: string; target: string };

/** The blocks of a text, which are parted by empty lines. */
export function blocksOf(text: string): Block[] {
  const blocks = text.split(/\n{2,}/).map((block) => block.replace(/\n+$/, ""));
  return blocks.filter((block) => block.trim() !== "").map(blockOf);
}

function blockOf(text: string): Block {
  const lines = text.split("\n");
  if (lines.every((line) => line.startsWith("    "))) {
    return { kind: "code", text: lines.map((line) => line.slice(4)).join("\n") };
  }
  if (text.startsWith("#")) {
    return { kind: "heading", text: text.replace(/^#+\s*/, "") };
  }
  if (text.startsWith("|")) {
    const [head = [], , ...rows] = lines.map(cellsOf);
    return { kind: "table", head, rows };
  }
  if (text.startsWith("- ")) {
    return { kind: "list", items: text.slice(2).split(/\n- /) };
  }
  return { kind: "paragraph", text: lines.join(" ") };
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The spans of a paragraph or a cell. */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, strong, label, target] = match;
    if (match.index > end) {
      spans.push({ kind: "text", text: text.slice(end, match.index) });
    }
    if (label !== undefined && target !== undefined) {
      spans.push({ kind: "link", text: label, target });
    } else {
      spans.push(code === undefined ? { kind: "strong", text: strong ?? "" } : { kind: "code", text: code });
    }
    end = match.index + whole.length;
  }
  return end < text.length ? [...spans, { kind: "text", text: text.slice(end) }] : spans;
}
