/** How long a zoom takes. */
const MILLISECONDS = 260;

/** A window on the graph that moves smoothly to another place. */
export class MovingWindow {
  start = 0;
  end = 1;
  private from = { start: 0, end: 1 };
  private to = { start: 0, end: 1 };
  private moves = false;
  private began: number | null = null;

  jump(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.moves = false;
  }

  /** The move begins with the next step, so that what is done until then skips none of it. */
  move(start: number, end: number): void {
    this.from = { start: this.start, end: this.end };
    this.to = { start, end };
    this.moves = true;
    this.began = null;
  }

  /** Moves to where it is by now; says whether it moves on. */
  step(now: number): boolean {
    if (!this.moves) {
      return false;
    }
    this.began ??= now;
    const part = Math.min(1, Math.max(0, (now - this.began) / MILLISECONDS));
    const eased = 1 - (1 - part) ** 3;
    this.start = this.from.start + (this.to.start - this.from.start) * eased;
    this.end = this.from.end + (this.to.end - this.from.end) * eased;
    if (part === 1) {
      this.jump(this.to.start, this.to.end);
    }
    return this.moves;
  }
}
