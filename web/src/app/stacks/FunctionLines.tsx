import { SourceLines } from "../../core/flame/SourceLines.tsx";
import type { FlameFrame } from "../../core/flame/tree.ts";
import type { StackLines } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { stackLinesQuery } from "../pageQueries.ts";
import type { Selection } from "./selection.ts";

/** The source lines of a function of the stacks of a selection. */
export function FunctionLines({ frame, selection }: { frame: FlameFrame; selection: Selection }) {
  return (
    <Answered answer={useAnswer<StackLines>(stackLinesQuery(selection, frame))}>
      {(answer) => (
        <SourceLines answer={answer}>
          <a href={stackLinesQuery(selection, frame, "stack-lines.csv")}>CSV</a>
        </SourceLines>
      )}
    </Answered>
  );
}
