import { useMemo, useState } from "preact/hooks";
import { present, type SideName, type Sides, type Stacks } from "../sides.ts";
import { Choice, StackPanel } from "./StackPanel.tsx";

interface Properties {
  waits: Sides<Stacks>;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
  /** Whether the table of functions is open from the start. */
  listed: boolean;
}

/** Stacks of waits, one side at a time: how far times off the processor vary is not known, so no change is judged. */
export function Waits({ waits, alone, listed }: Properties) {
  const names = present(waits).map(([side]) => side);
  const [wanted, setWanted] = useState<SideName>("head");
  const side = names.includes(wanted) ? wanted : (names[0] ?? "head");
  const shown = useMemo(() => ({ [side]: waits[side] }) as Sides<Stacks>, [waits, side]);
  return (
    <>
      <p class="quiet small">
        Stacks in which threads leave the processor, by the time until they run again; a thread that waits for
        requests is off the processor too.
      </p>
      {names.length > 1 && <Choice label="Side" values={names} chosen={side} choose={setWanted} />}
      <StackPanel key={side} sides={shown} alone={alone} listed={listed} />
    </>
  );
}
