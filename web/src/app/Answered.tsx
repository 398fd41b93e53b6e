import type { ComponentChildren } from "preact";
import type { Answer } from "./answers.ts";
import { signInUrl } from "./signing-in/session.ts";

/** What is drawn from an answer; until it is there, that it is waited for, and why there is none. */
export function Answered<Data>({
  answer: { data, fault },
  children,
}: {
  answer: Answer<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  return (
    <>
      {fault !== null && (
        <p class="warning" role="alert">
          {fault.message}
          {fault.status === 401 && (
            <>
              {" "}
              <a href={signInUrl()}>Sign in</a>
            </>
          )}
        </p>
      )}
      {data === null ? fault === null && <p class="quiet waiting">Loading …</p> : children(data)}
    </>
  );
}
