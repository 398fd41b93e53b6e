/** Lists of cases whose state is in the address of the page, so that a filtered list can be linked. */

import { useEffect, useState } from "preact/hooks";
import { firstState, type ListControl, type ListState } from "../core/cases/CaseList.tsx";
import { setParameters } from "./navigation.ts";

const WRITTEN_AFTER_MS = 300;
const NAMED = ["text", "outcome", "group", "metric", "engine"] as const;

/** The state of a list; the address follows it a moment later, so that no keystroke waits for it. */
export function useAddressedList(order: string, parameters: URLSearchParams): ListControl {
  const [state, setState] = useState(() => stateIn(parameters, order));
  useEffect(() => {
    const timer = setTimeout(() => write(state, order), WRITTEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [state, order]);
  return {
    state,
    change: (changes) => setState((before) => ({ ...before, ...changes })),
    addressed: parameters.get("case"),
    address: (name) => `?${new URLSearchParams({ case: name })}`,
    onOpened: (name, isOpen) => {
      if (isOpen) {
        setParameters({ case: name });
      } else if (new URLSearchParams(location.search).get("case") === name) {
        setParameters({ case: null });
      }
    },
  };
}

function stateIn(parameters: URLSearchParams, order: string): ListState {
  const state = firstState(parameters.get("order") ?? order);
  for (const name of NAMED) {
    state[name] = parameters.get(name) ?? "";
  }
  return { ...state, reversed: parameters.get("reversed") === "1" };
}

function write(state: ListState, order: string): void {
  const changes: Record<string, string | null> = {
    order: state.order === order ? null : state.order,
    reversed: state.reversed ? "1" : null,
  };
  for (const name of NAMED) {
    changes[name] = state[name];
  }
  const before = new URLSearchParams(location.search);
  if (Object.entries(changes).some(([name, value]) => (before.get(name) ?? "") !== (value ?? ""))) {
    setParameters(changes);
  }
}
