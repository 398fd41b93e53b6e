import { useState } from "preact/hooks";
import { Answered } from "../Answered.tsx";
import type { PageProps } from "../routes.ts";
import { signInWith, signOut, useSession } from "./session.ts";
import "./signing-in.css";

/** Where people sign in and out. */
export default function SignInPage({ parameters }: PageProps) {
  const session = useSession();
  const next = pathWithin(parameters.get("next"));
  return (
    <>
      <h1>Sign in</h1>
      <Answered answer={session}>
        {({ name, source, scopes, by_github, reports_need_token }) => (
          <>
            <p>
              {reports_need_token
                ? "The pages of this lab are for people who have signed in."
                : "Everybody can read the pages of this lab. A token is needed to change something on its fleet."}
            </p>
            {name !== null && (
              <section>
                <h2>You have signed in</h2>
                <p>
                  {source === "github" ? "By GitHub as " : "With the token "}
                  <b>{name}</b>, which permits to {scopes.map((scope) => PERMITTED[scope]).join(", ")}.
                </p>
                <SignOut />
              </section>
            )}
            {by_github && (
              <section>
                <h2>By GitHub</h2>
                <p>
                  For those who may give the lab commands in one of its repositories. It permits to read.
                  GitHub says who you are; the lab keeps your login, and nothing else.
                </p>
                <p>
                  {/* No page of the application: the lab leads on to GitHub. */}
                  <a class="choice sign-in" href={`/sign-in/github?${new URLSearchParams({ next })}`}>
                    Sign in by GitHub
                  </a>
                </p>
              </section>
            )}
            <section>
              <h2>With a token</h2>
              <p>
                Somebody who administers the lab makes one: <code>zerolap token add NAME --scope read</code>,
                with <code>submit</code> to ask for comparisons and end your own, or <code>admin</code> to end
                those of others and drain agents.
              </p>
              <TokenForm next={next} />
            </section>
          </>
        )}
      </Answered>
    </>
  );
}

const PERMITTED = {
  read: "read",
  submit: "ask for comparisons and end your own",
  admin: "end and repeat all requests and drain agents",
};

/** A path of the lab; that of the overview for what is none. */
export function pathWithin(text: string | null): string {
  return text !== null && /^\/(?!\/)[!-[\]-~]*$/.test(text) ? text : "/";
}

function TokenForm({ next }: { next: string }) {
  const [fault, setFault] = useState<string | null>(null);
  const [token, setToken] = useState("");
  return (
    <form
      class="filter"
      onSubmit={async (event) => {
        event.preventDefault();
        const reason = await signInWith(token.trim());
        if (reason === null) {
          // The shell is loaded again: what was answered before was for somebody else.
          location.assign(next);
        } else {
          setFault(reason);
        }
      }}
    >
      {/* Password managers keep a token under a name. */}
      <input type="text" autocomplete="username" value="token" readOnly hidden />
      <label>
        Token{" "}
        <input
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          value={token}
          placeholder="zl_…"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="choice">
        Sign in
      </button>
      <p class="warning" role="alert">
        {fault}
      </p>
    </form>
  );
}

function SignOut() {
  const [fault, setFault] = useState<string | null>(null);
  return (
    <p>
      <button
        type="button"
        class="choice"
        onClick={async () => {
          const reason = await signOut();
          if (reason === null) {
            location.assign("/sign-in");
          } else {
            setFault(reason);
          }
        }}
      >
        Sign out
      </button>{" "}
      <span class="warning" role="alert">
        {fault}
      </span>
    </p>
  );
}
