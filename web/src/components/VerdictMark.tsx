import { SIGNS, type Word } from "../reading.ts";

/** A verdict as a coloured word with a sign, so that it is readable without colour. */
export function VerdictMark({ word }: { word: Word }) {
  return (
    <span class={`mark ${word}`}>
      <span aria-hidden="true">{SIGNS[word]} </span>
      {word}
    </span>
  );
}
