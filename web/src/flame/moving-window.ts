/** How long a zoom takes. */
const MILLISECONDS = 260;

/** A window on the graph that moves smoothly to another place. */
export class MovingWindow {
  start = 0;
  end = 1;
  private from = { start: 0, end: 1 };
  private to = { start: 0, end: 1 };
  private began: number | null = null;

  jump(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.began = null;
  }

  move(start: number, end: number, now: number): void {
    this.from = { start: this.start, end: this.end };
    this.to = { start, end };
    this.began = now;
  }

  /** Moves to where it is by now; says whether it moves on. */
  step(now: number): boolean {
    if (this.began === null) {
      return false;
    }
    const part = Math.min(1, Math.max(0, (now - this.began) / MILLISECONDS));
    const eased = 1 - (1 - part) ** 3;
    this.start = this.from.start + (this.to.start - this.from.start) * eased;
    this.end = this.from.end + (this.to.end - this.from.end) * eased;
    if (part === 1) {
      this.jump(this.to.start, this.to.end);
    }
    return part < 1;
  }
}
