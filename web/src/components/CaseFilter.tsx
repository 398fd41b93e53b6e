interface Properties<Word extends string> {
  /** What cases are, in the order in which it is offered. */
  words: readonly Word[];
  /** What each case is. */
  found: Word[];
  name: string;
  setName: (name: string) => void;
  chosen: Word | null;
  setChosen: (word: Word | null) => void;
}

export function CaseFilter<Word extends string>(properties: Properties<Word>) {
  const { words, found, name, setName, chosen, setChosen } = properties;
  return (
    <search class="filter">
      <input
        type="search"
        aria-label="Filter by case, command or group"
        placeholder="case, command or group"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      {words
        .filter((one) => found.includes(one))
        .map((one) => (
          <button
            key={one}
            type="button"
            class="choice"
            aria-pressed={chosen === one}
            onClick={() => setChosen(chosen === one ? null : one)}
          >
            {one} {found.filter((word) => word === one).length}
          </button>
        ))}
    </search>
  );
}
