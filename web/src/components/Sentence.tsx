/** A sentence in which names in backticks are set as code. */
export function Sentence({ text }: { text: string }) {
  // Every second part was between backticks.
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    return <>{text}</>;
  }
  return <>{parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>;
}
