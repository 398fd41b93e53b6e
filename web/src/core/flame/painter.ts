import { type Colouring, mixed, type Swatch } from "./colouring.ts";
import { Cells, type Layout, RUN } from "./layout.ts";
import { cut } from "./text.ts";
import { at } from "./tree.ts";

/** In CSS pixels. */
export const ROW_HEIGHT = 18;
const FONT_SIZE = 12;
const LABEL_INDENT = 4;
const FEWEST_LETTERS = 3;
const FADED = 0.2;

/** Indices into `pixels`. */
const [GROUND, RUNS, FADED_RUNS, SWATCHES] = [0, 1, 2, 3];

/** What is drawn, apart from the zoom and the scrolling. */
export interface Scene {
  layout: Layout;
  colouring: Colouring;
  /** Which nodes match the search; null where nothing is searched. */
  matched: Uint8Array | null;
  /** Whether the root is at the bottom, as in a flame graph; else at the top, as in an icicle. */
  rootBelow: boolean;
}

/** The place of a row of the tree, counted from the top; the row at a place is found the same way. */
export function placeOfRow({ layout, rootBelow }: Scene, row: number): number {
  return rootBelow ? layout.tree.rows.length - 2 - row : row;
}

export interface Place {
  start: number;
  end: number;
  /** How far the graph is scrolled down, in CSS pixels. */
  top: number;
}

/** Draws a graph. Painting allocates nothing but labels that are cut to another length. */
export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private scene: Scene | null = null;
  private cells = new Cells(0);
  private readonly strips = new Strips();
  /** The colours as pixels: ground, runs, these faded, the swatches, these faded. */
  private pixels = new Uint32Array(0);
  private ink = { text: "", ground: "", outline: "" };
  private ratio = 1;
  private letter = 7;
  private labels: string[] = [];
  private letters = new Int32Array(0);

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  }

  show(scene: Scene): void {
    const size = scene.layout.left.length;
    if (scene.layout.tree !== this.scene?.layout.tree) {
      this.cells = new Cells(size);
      this.labels = new Array<string>(size).fill("");
      this.letters = new Int32Array(size).fill(-1);
    }
    this.scene = scene;
    this.readColours();
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.strips.resize(this.canvas.width, Math.ceil(height / ROW_HEIGHT) + 1);
    this.context.font = `${FONT_SIZE * ratio}px ui-monospace, monospace`;
    this.context.textBaseline = "middle";
    this.letter = this.context.measureText("MMMMMMMMMM").width / 10;
  }

  /** Reads the colours of the style, which differ between the light and the dark scheme. */
  readColours(): void {
    if (this.scene === null) {
      return;
    }
    const style = getComputedStyle(this.canvas);
    const colour = (property: string) => this.sixDigits(style.getPropertyValue(property).trim());
    this.ink = { text: colour("--text"), ground: colour("--ground"), outline: colour("--accent") };
    const over = ({ property, strength }: Swatch) => mixed(this.ink.ground, colour(property), strength);
    const { swatches } = this.scene.colouring;
    this.pixels = Uint32Array.from([
      over({ property: "--ground", strength: 1 }),
      over({ property: "--flame-run", strength: 1 }),
      over({ property: "--flame-run", strength: FADED }),
      ...swatches.map(over),
      ...swatches.map((swatch) => over({ ...swatch, strength: swatch.strength * FADED })),
    ]);
  }

  paint(place: Place, chosen: number | null): void {
    const { context, scene, ratio } = this;
    if (scene === null) {
      return;
    }
    const height = ROW_HEIGHT * ratio;
    const top = place.top * ratio;
    const first = Math.floor(top / height);
    const rows = scene.layout.tree.rows.length - 1;
    const end = Math.min(rows, Math.ceil((top + this.canvas.height) / height));
    context.fillStyle = this.ink.ground;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.cells.collect(scene.layout, {
      start: place.start,
      end: place.end,
      pixels: this.canvas.width,
      firstRow: scene.rootBelow ? placeOfRow(scene, end - 1) : first,
      endRow: scene.rootBelow ? placeOfRow(scene, first) + 1 : end,
    });
    this.fill(scene, first, height, top);
    this.label(scene, height, top);
    if (chosen !== null) {
      this.outline(scene, place, chosen, height, top);
    }
  }

  /** A colour as #rrggbb, however the style writes it. */
  private sixDigits(colour: string): string {
    this.context.fillStyle = colour;
    return this.context.fillStyle;
  }

  private colourOf({ colouring, matched }: Scene, cell: number): number {
    const node = at(this.cells.node, cell);
    if (node === RUN) {
      return matched === null ? RUNS : FADED_RUNS;
    }
    const faded = matched !== null && at(matched, node) === 0;
    return SWATCHES + at(colouring.ofNode, node) + (faded ? colouring.swatches.length : 0);
  }

  private fill(scene: Scene, first: number, height: number, top: number): void {
    const { context, strips } = this;
    strips.draw(
      this.cells,
      (row) => placeOfRow(scene, row) - first,
      this.pixels[GROUND] ?? 0,
      (cell) => this.pixels[this.colourOf(scene, cell)] ?? 0,
    );
    strips.stretch(context, first * height - top, height);
    context.fillStyle = this.ink.ground;
    for (let row = first + 1; row * height - top < this.canvas.height + height; row++) {
      context.fillRect(0, Math.round(row * height - top) - 1, this.canvas.width, 1);
    }
  }

  private label(scene: Scene, height: number, top: number): void {
    const { cells, context } = this;
    const { frame, frames } = scene.layout.tree;
    const indent = LABEL_INDENT * this.ratio;
    context.fillStyle = this.ink.text;
    for (let cell = 0; cell < cells.count; cell++) {
      const node = at(cells.node, cell);
      const left = Math.max(0, at(cells.left, cell));
      const width = Math.min(this.canvas.width, at(cells.right, cell)) - left;
      const letters = Math.floor((width - 2 * indent) / this.letter);
      if (node === RUN || letters < FEWEST_LETTERS) {
        continue;
      }
      if (at(this.letters, node) !== letters) {
        this.letters[node] = letters;
        this.labels[node] = cut(frames[at(frame, node)]?.function ?? "", letters);
      }
      const middle = Math.round((placeOfRow(scene, at(cells.row, cell)) + 0.5) * height - top);
      context.fillText(this.labels[node] ?? "", Math.round(left + indent), middle);
    }
  }

  private outline(scene: Scene, place: Place, node: number, height: number, top: number): void {
    const { layout } = scene;
    const scale = this.canvas.width / (place.end - place.start);
    const left = Math.max(0, (at(layout.left, node) - place.start) * scale);
    const right = Math.min(this.canvas.width, (at(layout.right, node) - place.start) * scale);
    if (right > left) {
      const line = 2 * this.ratio;
      this.context.strokeStyle = this.ink.outline;
      this.context.lineWidth = line;
      const above = placeOfRow(scene, at(layout.tree.depth, node)) * height - top;
      this.context.strokeRect(left + line / 2, above + line / 2, right - left - line, height - 1 - line);
    }
  }
}

/** Rectangles that are wider than this end with a pixel of ground, which sets them apart from the next. */
const WIDE = 3;

/**
 * Rows of rectangles as a picture in which each row is one pixel high, drawn stretched: this costs the same for
 * a few rectangles as for thousands of them.
 */
class Strips {
  private readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d", { willReadFrequently: true });
  private picture = new ImageData(1, 1);
  private pixels = new Uint32Array(this.picture.data.buffer);

  resize(width: number, rows: number): void {
    this.canvas.width = width;
    this.canvas.height = rows;
    this.picture = new ImageData(width, rows);
    this.pixels = new Uint32Array(this.picture.data.buffer);
  }

  /** Draws the cells, each in the strip that `stripOf` gives for its row; `colourOf` gives its colour as a pixel. */
  draw(
    cells: Cells,
    stripOf: (row: number) => number,
    ground: number,
    colourOf: (cell: number) => number,
  ): void {
    const { width, height } = this.picture;
    this.pixels.fill(ground);
    for (let cell = 0; cell < cells.count; cell++) {
      const row = stripOf(at(cells.row, cell));
      const left = Math.min(width - 1, Math.max(0, Math.round(at(cells.left, cell))));
      const right = Math.min(width, Math.round(at(cells.right, cell)));
      const end = right - left > WIDE ? right - 1 : Math.max(right, left + 1);
      if (row >= 0 && row < height) {
        this.pixels.fill(colourOf(cell), row * width + left, row * width + end);
      }
    }
    this.context?.putImageData(this.picture, 0, 0);
  }

  /** Puts the rows into another canvas, each so high. */
  stretch(context: CanvasRenderingContext2D, top: number, rowHeight: number): void {
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, top, this.canvas.width, this.canvas.height * rowHeight);
  }
}
