import type { Cells } from "./cells.ts";
import { at } from "./columns.ts";

/** Rectangles that are wider than this end with a pixel of ground, which tells them from the next. */
const WIDE = 3;

/**
 * Rows of rectangles as a picture in which each row is one pixel high, drawn stretched: this costs the same for
 * a few rectangles as for thousands of them.
 */
export class Strips {
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

  /** Draws the cells, whose first row is `firstRow`; `colourOf` gives the colour of a cell as a pixel. */
  draw(cells: Cells, firstRow: number, ground: number, colourOf: (cell: number) => number): void {
    const { width, height } = this.picture;
    this.pixels.fill(ground);
    for (let cell = 0; cell < cells.count; cell++) {
      const row = at(cells.row, cell) - firstRow;
      const left = Math.min(width - 1, Math.max(0, Math.round(at(cells.left, cell))));
      const right = Math.min(width, Math.round(at(cells.right, cell)));
      const end = right - left > WIDE ? right - 1 : Math.max(right, left + 1);
      if (row < height) {
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
