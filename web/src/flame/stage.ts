import { at } from "./columns.ts";
import { nodeAt } from "./layout.ts";
import { MovingWindow } from "./moving-window.ts";
import { Painter, ROW_HEIGHT, type Scene } from "./painter.ts";

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
    /** What the graph is scrolled in. */
    private readonly frame: HTMLElement,
  ) {
    this.painter = new Painter(canvas);
    this.resized = new ResizeObserver(() => this.takeSize());
    this.resized.observe(frame);
    this.takeSize();
    const { signal } = this.ended;
    frame.addEventListener("scroll", () => this.draw(), { signal, passive: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => {
        this.painter.readColours();
        this.draw();
      },
      { signal },
    );
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
    if (scene !== this.scene) {
      this.painter.show(scene);
    }
    this.scene = scene;
    this.zoomed = zoomed;
    this.draw();
  }

  /** Marks a node, and scrolls to it where asked. */
  choose(chosen: number | null, scroll: boolean): void {
    this.chosen = chosen;
    if (chosen !== null && scroll && this.scene !== null) {
      const top = at(this.scene.layout.tree.depth, chosen) * ROW_HEIGHT;
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
    const row = Math.floor((y + this.frame.scrollTop) / ROW_HEIGHT);
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
