import type { Order } from "../reading.ts";

interface Properties {
  by: Order;
  order: Order;
  reversed: boolean;
  sort: (by: Order) => void;
  class?: string;
}

export function SortHeader({ by, order, reversed, sort, class: kind = "" }: Properties) {
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
