interface Properties<By extends string> {
  by: By;
  order: By;
  reversed: boolean;
  sort: (by: By) => void;
  class?: string;
}

export function SortHeader<By extends string>(properties: Properties<By>) {
  const { by, order, reversed, sort, class: kind = "" } = properties;
  const active = by === order;
  return (
    <th scope="col" class={kind} aria-sort={active ? (reversed ? "descending" : "ascending") : "none"}>
      <button type="button" class="plain" onClick={() => sort(by)}>
        {by}
        <span aria-hidden="true">{active ? (reversed ? " ▴" : " ▾") : ""}</span>
      </button>
    </th>
  );
}
