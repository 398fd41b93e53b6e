/** The address of the page: links within the lab change it without loading the shell again. */

import { useEffect, useState } from "preact/hooks";

const CHANGED = "zerolap:navigated";

/** The path and the parameters of the address. */
export interface Address {
  path: string;
  parameters: URLSearchParams;
}

function current(): Address {
  return { path: location.pathname, parameters: new URLSearchParams(location.search) };
}

/** The present address; the component is drawn again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(current);
  useEffect(() => {
    const follow = () => setAddress(current());
    addEventListener("popstate", follow);
    addEventListener(CHANGED, follow);
    return () => {
      removeEventListener("popstate", follow);
      removeEventListener(CHANGED, follow);
    };
  }, []);
  return address;
}

/** Names the page in tabs, bookmarks and the history of the browser; until it is known the page has its route's title. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) {
      document.title = `${title} · Zerolap`;
    }
  }, [title]);
}

/** Goes to a page of the lab. */
export function goTo(url: string): void {
  history.pushState(null, "", url);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

/** Changes parameters of the address in place, as filters and zooms do; `null`, "" and empty lists remove one. */
export function setParameters(changes: Record<string, string | readonly string[] | null>): void {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    parameters.delete(name);
    for (const part of typeof value === "string" ? [value] : (value ?? [])) {
      if (part !== "") {
        parameters.append(name, part);
      }
    }
  }
  const query = parameters.toString();
  history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
  dispatchEvent(new Event(CHANGED));
}

/** Has clicks on links to pages of the lab go there without loading the shell; `isPage` decides by the path. */
export function followLinks(isPage: (path: string) => boolean): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (!(link instanceof HTMLAnchorElement) || !isPlain || event.defaultPrevented) {
      return;
    }
    const isElsewhere =
      link.origin !== location.origin || link.target !== "" || link.hasAttribute("download");
    const isWithin = link.pathname === location.pathname && link.hash !== "";
    if (!isElsewhere && !isWithin && isPage(link.pathname)) {
      event.preventDefault();
      goTo(link.href);
    }
  });
}
