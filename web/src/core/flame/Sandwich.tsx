import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { count, percent } from "../numbers.ts";
import type { SideName } from "../sides.ts";
import { costs, reachOf, shareOf } from "./difference.ts";
import { FlameView, type ViewName } from "./FlameView.tsx";
import { PRUNED } from "./functions.ts";
import { calleesOf, callersOf } from "./sandwich.ts";
import { bothSides, changeWithInterval, costText, nameOf } from "./text.ts";
import { at, type FlameFrame, type FlameTree, frameKey, isFunction } from "./tree.ts";

const SHOWN = 12;

interface Properties {
  tree: FlameTree;
  frame: number;
  view: ViewName;
  side: SideName;
  alone: boolean;
  choose: (key: string) => void;
  close: () => void;
  /** What more there is of the function. */
  children?: ComponentChildren;
}

/** A function between its callers and its callees. */
export function Sandwich({ tree, frame, view, side, alone, choose, close, children }: Properties) {
  const callers = useMemo(() => callersOf(tree, frame), [tree, frame]);
  const callees = useMemo(() => calleesOf(tree, frame), [tree, frame]);
  const name = tree.frames[frame]?.function ?? "";
  const shared = {
    view,
    side,
    alone,
    matcher: null,
    plain: true,
    choose: (chosen: FlameFrame) => {
      if (isFunction(chosen) && chosen.object !== PRUNED) {
        choose(frameKey(chosen));
      }
    },
  };
  return (
    <section class="sandwich" aria-label={`Callers and callees of ${name}`}>
      <p class="strong">
        Callers and callees of <code>{name}</code>{" "}
        <button type="button" class="choice" onClick={close}>
          close
        </button>
      </p>
      <p class="small">
        <span class="quiet">{nameOf(callees, 0)}</span>
        <br />
        {costText(callees, 0)}
      </p>
      {children}
      <p class="strong small">Callers</p>
      {callers.rows.length > 2 && (
        <FlameView
          key={`callers ${frame}`}
          tree={callers}
          shape="flame graph"
          subject={`callers of ${name}`}
          {...shared}
        />
      )}
      <Neighbours tree={callers} choose={choose} none="Nothing calls it: it is where its thread begins." />
      <p class="strong small">Callees</p>
      {callees.rows.length > 2 && (
        <FlameView
          key={`callees ${frame}`}
          tree={callees}
          shape="icicle"
          subject={`callees of ${name}`}
          {...shared}
        />
      )}
      <Neighbours tree={callees} choose={choose} none="It calls nothing that was seen in a sample." />
    </section>
  );
}

interface NeighboursProperties {
  tree: FlameTree;
  choose: (key: string) => void;
  none: string;
}

/** The direct callers or callees, those with the most samples first. */
function Neighbours({ tree, choose, none }: NeighboursProperties) {
  const { base, head } = tree.weights;
  const samples = (node: number) =>
    Math.max(at(base?.inclusive ?? [0], node) || 0, at(head?.inclusive ?? [0], node) || 0);
  const nodes = Array.from({ length: at(tree.children, 1) - at(tree.children, 0) }, (_, place) => place + 1)
    .filter((node) => samples(node) > 0)
    .sort((one, other) => samples(other) - samples(one));
  if (nodes.length === 0) {
    return <p class="quiet small">{none}</p>;
  }
  return (
    <ul class="neighbours small">
      {nodes.slice(0, SHOWN).map((node) => {
        const known = tree.frames[at(tree.frame, node)] as FlameFrame;
        return (
          <li key={node}>
            {known.object === null || known.object === PRUNED ? (
              <span>{known.object === null ? `thread ${known.function}` : known.function}</span>
            ) : (
              <button type="button" class="plain function" onClick={() => choose(frameKey(known))}>
                <code>{known.function}</code>
              </button>
            )}{" "}
            <span class="number">{neighbourText(tree, node)}</span>
          </li>
        );
      })}
      {nodes.length > SHOWN && <li class="quiet">and {nodes.length - SHOWN} more, see the graph</li>}
    </ul>
  );
}

function neighbourText(tree: FlameTree, node: number): string {
  const { weights } = tree;
  const { base, head } = weights;
  const shares = bothSides(weights, (side) => percent(shareOf(at(side.inclusive, node), side)));
  const isTimed = [base, head].every((side) => side === undefined || side.nanoseconds !== null);
  const times = bothSides(weights, (side) =>
    count(shareOf(at(side.inclusive, node), side) * (side.nanoseconds ?? 0)),
  );
  const text = isTimed ? `${shares}, ${times} ns per request` : shares;
  if (!base || !head) {
    return text;
  }
  const cost = costs(base, head);
  const before = { samples: at(base.inclusive, node), variance: at(base.variance, node) };
  const after = { samples: at(head.inclusive, node), variance: at(head.variance, node) };
  const change = shareOf(after.samples, head) * cost.head - shareOf(before.samples, base) * cost.base;
  return `${text} (${changeWithInterval(change, reachOf(before, after, [base, head], cost), cost.unit)})`;
}
