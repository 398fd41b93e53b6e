import { useEffect, useRef } from "preact/hooks";
import { goTo } from "../navigation.ts";

export function searchUrl(text: string): string {
  return `/search?${new URLSearchParams({ text })}`;
}

/** The field in the head of each page that looks for commits, requests and cases; the key `/` leads there. */
export function SearchField({ text }: { text: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const follow = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest("input, select, textarea") !== null;
      const isPlain = !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey);
      if (event.key === "/" && isPlain && !isTyping) {
        event.preventDefault();
        field.current?.focus();
      }
    };
    addEventListener("keydown", follow);
    return () => removeEventListener("keydown", follow);
  }, []);
  return (
    <search>
      <form
        action="/search"
        onSubmit={(event) => {
          event.preventDefault();
          goTo(searchUrl(field.current?.value.trim() ?? ""));
        }}
      >
        <input
          ref={field}
          key={text}
          type="search"
          name="text"
          aria-label="Search for a commit, a request or a case"
          aria-keyshortcuts="/"
          placeholder="commit, #123, case  /"
          defaultValue={text}
          maxLength={200}
        />
      </form>
    </search>
  );
}
