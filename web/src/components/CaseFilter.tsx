import type { CaseResult } from "../document.ts";
import { WORDS, type Word, word } from "../reading.ts";

interface Properties {
  cases: CaseResult[];
  name: string;
  setName: (name: string) => void;
  chosen: Word | null;
  setChosen: (word: Word | null) => void;
}

export function CaseFilter({ cases, name, setName, chosen, setChosen }: Properties) {
  const present = WORDS.filter((one) => cases.some((result) => word(result) === one));
  return (
    <search class="filter">
      <input
        type="search"
        aria-label="Filter by case, command or group"
        placeholder="case, command or group"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      {present.map((one) => (
        <button
          key={one}
          type="button"
          class="choice"
          aria-pressed={chosen === one}
          onClick={() => setChosen(chosen === one ? null : one)}
        >
          {one} {cases.filter((result) => word(result) === one).length}
        </button>
      ))}
    </search>
  );
}
