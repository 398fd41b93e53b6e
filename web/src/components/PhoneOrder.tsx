interface Properties<By extends string> {
  /** What can be sorted by, and how that is called. */
  orders: readonly (readonly [By, string])[];
  order: By;
  sort: (by: By) => void;
}

/** Chooses the order where there is no room for headings. */
export function PhoneOrder<By extends string>({ orders, order, sort }: Properties<By>) {
  return (
    <label class="phone">
      sort by{" "}
      <select value={order} onChange={(event) => sort(event.currentTarget.value as By)}>
        {orders.map(([by, name]) => (
          <option key={by} value={by}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
