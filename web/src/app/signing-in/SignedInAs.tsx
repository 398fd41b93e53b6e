import { signInUrl, useSession } from "./session.ts";

/** Who has signed in, in the head of each page, with the way to sign in and out. */
export function SignedInAs() {
  const { data } = useSession();
  if (data === null || location.pathname === "/sign-in") {
    return null;
  }
  return (
    <a class="signed-in small" href={signInUrl()}>
      {data.name === null ? "Sign in" : `Signed in as ${data.name}`}
    </a>
  );
}
