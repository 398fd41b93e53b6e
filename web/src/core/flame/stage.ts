import { nodeAt } from "./layout.ts";
import { Painter, placeOfRow, ROW_HEIGHT, type Scene } from "./painter.ts";
import { at } from "./tree.ts";

/** Keeps a canvas painted: as the scene, the size, the scheme and the scrolling of its frame change. */
export class Stage {
  private readonly painter: Painter;
  private readonly window = new MovingWindow();
  private readonly ended = new AbortController();
  private readonly resized: ResizeObserver;
  private scene: Scene | null = null;
  private zoomed = -1;
  private chosen: number | null = null;
  private request = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    /** The element that scrolls the graph. */
    private readonly frame: HTMLElement,
  ) {
    this.painter = new Painter(canvas);
    this.resized = new ResizeObserver(() => this.takeSize());
    this.resized.observe(frame);
    this.takeSize();
    const { signal } = this.ended;
    frame.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    const recolour = () => {
      this.painter.readColours();
      // At once, since printing does not wait for the next animation frame.
      this.paint(performance.now());
    };
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]) {
      matchMedia(query).addEventListener("change", recolour, { signal });
    }
  }

  end(): void {
    this.ended.abort();
    this.resized.disconnect();
    cancelAnimationFrame(this.request);
  }

  /** Shows a scene zoomed to a node; moves there unless the scene is laid out anew. */
  show(scene: Scene, zoomed: number): void {
    const sameLayout = scene.layout === this.scene?.layout;
    const [start, end] = [at(scene.layout.left, zoomed), at(scene.layout.right, zoomed)];
    if (!sameLayout || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.window.jump(start, end);
    } else if (zoomed !== this.zoomed) {
      this.window.move(start, end);
    }
    const isTurned = scene.rootBelow !== (this.scene?.rootBelow ?? false) || (scene.rootBelow && !sameLayout);
    if (scene !== this.scene) {
      this.painter.show(scene);
    }
    this.scene = scene;
    if (isTurned) {
      // The root is seen first.
      this.frame.scrollTop = scene.rootBelow ? this.frame.scrollHeight : 0;
    }
    this.zoomed = zoomed;
    this.draw();
  }

  /** Marks a node, and scrolls to it where asked. */
  choose(chosen: number | null, scroll: boolean): void {
    this.chosen = chosen;
    if (chosen !== null && scroll && this.scene !== null) {
      const top = placeOfRow(this.scene, at(this.scene.layout.tree.depth, chosen)) * ROW_HEIGHT;
      const lowest = top + ROW_HEIGHT - this.frame.clientHeight;
      this.frame.scrollTop = Math.min(Math.max(this.frame.scrollTop, lowest), top);
    }
    this.draw();
  }

  /** The node at a place of the canvas, in pixels of the style. */
  nodeAt(x: number, y: number): number | null {
    if (this.scene === null) {
      return null;
    }
    const { start, end } = this.window;
    const row = placeOfRow(this.scene, Math.floor((y + this.frame.scrollTop) / ROW_HEIGHT));
    return nodeAt(this.scene.layout, row, start + (x / this.canvas.clientWidth) * (end - start));
  }

  private takeSize(): void {
    const { clientWidth, clientHeight } = this.frame;
    this.canvas.style.width = `${clientWidth}px`;
    this.canvas.style.height = `${clientHeight}px`;
    this.painter.resize(clientWidth, clientHeight, devicePixelRatio);
    // A canvas of a new size is empty until painted: waiting for the next picture would flicker.
    this.paint(performance.now());
  }

  private draw(): void {
    cancelAnimationFrame(this.request);
    this.request = requestAnimationFrame((now) => this.paint(now));
  }

  private paint(now: number): void {
    const moves = this.window.step(now);
    const { start, end } = this.window;
    if (this.scene !== null && end > start) {
      this.painter.paint({ start, end, top: this.frame.scrollTop }, this.chosen);
    }
    if (moves) {
      this.draw();
    }
  }
}

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

  /** The move begins with the next step, so that slow work before it skips nothing. */
  move(start: number, end: number): void {
    this.from = { start: this.start, end: this.end };
    this.to = { start, end };
    this.moves = true;
    this.began = null;
  }

  /** Moves to the place for this time; returns whether the move goes on. */
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
