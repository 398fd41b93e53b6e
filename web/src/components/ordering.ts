import { useState } from "preact/hooks";

/** What a table is sorted by; asking for the same again turns it round. */
export function useOrder<By extends string>(first: By) {
  const [order, setOrder] = useState<By>(first);
  const [reversed, setReversed] = useState(false);
  const sort = (by: By) => {
    setReversed(by === order && !reversed);
    setOrder(by);
  };
  return { order, reversed, sort };
}
