import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Direction, neighbour } from "./layout.ts";
import { ROW_HEIGHT, type Scene } from "./painter.ts";
import { Stage } from "./stage.ts";
import { costText, nameOf } from "./text.ts";

interface Properties {
  scene: Scene;
  zoomed: number;
  zoom: (node: number) => void;
  back: () => void;
  /** Has the search take the keyboard; without, the key does nothing. */
  search?: () => void;
  /** Shows callers and callees of a node's function, where there is a place for them. */
  choose?: (node: number) => void;
  label: string;
  /** Whether it is said how the graph is used, while nothing is pointed at. */
  explained?: boolean;
}

/** Up is to the caller where the root is at the top. */
const ARROWS: Record<string, Direction> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};
const ARROWS_ROOT_BELOW: Record<string, Direction> = { ...ARROWS, ArrowUp: "down", ArrowDown: "up" };

/** The graph itself, with a line below about the frame that is pointed at or was moved to. */
export function FlameGraph(properties: Properties) {
  const { scene, zoomed, zoom, back, search, choose: open, label, explained = true } = properties;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const { tree } = scene.layout;

  // Before the canvas is seen, so that no click on it is lost.
  useLayoutEffect(() => {
    if (canvas.current === null || frame.current === null) {
      return;
    }
    const made = new Stage(canvas.current, frame.current);
    stage.current = made;
    return () => made.end();
  }, []);
  useLayoutEffect(() => stage.current?.show(scene, zoomed), [scene, zoomed]);

  const choose = (node: number | null, scroll: boolean) => {
    if (node !== chosen) {
      setChosen(node);
      stage.current?.choose(node, scroll);
    }
  };
  const pointed = (event: MouseEvent) => stage.current?.nodeAt(event.offsetX, event.offsetY) ?? null;
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = (scene.rootBelow ? ARROWS_ROOT_BELOW : ARROWS)[event.key];
    if (direction !== undefined) {
      choose(chosen === null ? zoomed : (neighbour(scene.layout, chosen, direction, zoomed) ?? chosen), true);
    } else if (event.key === "Enter" && chosen !== null) {
      zoom(chosen);
    } else if (event.key === "Escape") {
      back();
    } else if (event.key === "/" && search !== undefined) {
      search();
    } else if (event.key === "s" && chosen !== null && open !== undefined) {
      open(chosen);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <>
      <div class="flame-frame" ref={frame}>
        <div style={{ height: `${(tree.rows.length - 1) * ROW_HEIGHT}px` }}>
          {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes the arrow keys itself */}
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label={label}
            onMouseMove={(event) => choose(pointed(event), false)}
            onMouseLeave={() => choose(null, false)}
            onFocus={() => chosen === null && choose(zoomed, false)}
            onBlur={() => choose(null, false)}
            onClick={(event) => {
              const node = pointed(event);
              if (node !== null) {
                choose(node, false);
                zoom(node);
              }
            }}
            onKeyDown={onKeyDown}
          />
        </div>
      </div>
      <p class="flame-line" role="status">
        {chosen === null ? (
          explained && (
            <span class="quiet">
              Point at a frame or move with the arrow keys. Click or press Enter to zoom in, Escape to zoom
              out
              {search === undefined ? "" : ", / to search"}
              {open === undefined ? "" : ", s for callers and callees"}.
            </span>
          )
        ) : (
          <>
            <code class="strong">{nameOf(tree, chosen)}</code>
            <br />
            {costText(tree, chosen)}
          </>
        )}
      </p>
    </>
  );
}
