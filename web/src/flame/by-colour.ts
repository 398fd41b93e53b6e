import { at } from "./columns.ts";

/** Cells in the order of their colours, so that a colour is set once for all of its cells. */
export class ByColour {
  readonly order: Int32Array;
  private readonly ends = new Int32Array(256);

  constructor(capacity: number) {
    this.order = new Int32Array(capacity);
  }

  sort(count: number, colours: number, colourOf: (cell: number) => number): void {
    const { ends, order } = this;
    ends.fill(0);
    for (let cell = 0; cell < count; cell++) {
      const colour = colourOf(cell);
      ends[colour] = at(ends, colour) + 1;
    }
    for (let colour = 1; colour < colours; colour++) {
      ends[colour] = at(ends, colour) + at(ends, colour - 1);
    }
    for (let cell = count - 1; cell >= 0; cell--) {
      const colour = colourOf(cell);
      const place = at(ends, colour) - 1;
      ends[colour] = place;
      order[place] = cell;
    }
    // Each end has moved down to its colour's start.
    ends[colours] = count;
  }

  start(colour: number): number {
    return at(this.ends, colour);
  }

  end(colour: number): number {
    return at(this.ends, colour + 1);
  }
}
