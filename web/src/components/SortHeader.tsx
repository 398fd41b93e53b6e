interface Properties<By extends string> {
  by: By;
  order: By;
  reversed: boolean;
  sort: (by: By) => void;
  class?: string;
  /** The heading, where it says more than the key. */
  shown?: string;
}

/** Words are sorted upwards at first, numbers with the largest first. */
const UPWARDS = ["case", "group", "function", "verdict", "q"];

export function SortHeader<By extends string>(properties: Properties<By>) {
  const { by, order, reversed, sort, class: kind = "", shown = by } = properties;
  const active = by === order;
  const direction = UPWARDS.includes(by) === reversed ? "descending" : "ascending";
  return (
    <th scope="col" class={kind} aria-sort={active ? direction : "none"}>
      <button type="button" class="plain" onClick={() => sort(by)}>
        {shown}
        <span aria-hidden="true">{active ? (direction === "ascending" ? " ▴" : " ▾") : ""}</span>
      </button>
    </th>
  );
}
