interface Properties<Value extends string> {
  label: string;
  values: readonly Value[];
  chosen: Value;
  choose: (value: Value) => void;
}

/** A row of buttons of which one is pressed. */
export function Choice<Value extends string>({ label, values, chosen, choose }: Properties<Value>) {
  return (
    <fieldset class="choices">
      <legend class="sr">{label}</legend>
      {values.map((value) => (
        <button
          key={value}
          type="button"
          class="choice"
          aria-pressed={value === chosen}
          onClick={() => choose(value)}
        >
          {value}
        </button>
      ))}
    </fieldset>
  );
}
