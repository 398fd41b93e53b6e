/** Who looks at the pages, and what that permits. */

import type { SignedIn } from "../../core/records.ts";
import { type Answer, problemIn, useAnswer } from "../answers.ts";

const SESSION = "/api/v1/session";

/** Who has signed in. */
export function useSession(): Answer<SignedIn> {
  return useAnswer<SignedIn>(SESSION);
}

/** The page where people sign in, which leads back to the present one. */
export function signInUrl(): string {
  return `/sign-in?${new URLSearchParams({ next: `${location.pathname}${location.search}` })}`;
}

/** Has the lab do something; returns why it was not done, none if it was. */
export async function have(method: "POST" | "DELETE", url: string, body?: unknown): Promise<string | null> {
  const content =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  try {
    const response = await fetch(url, { method, ...content });
    return response.ok ? null : await problemIn(response);
  } catch {
    return "The lab does not answer.";
  }
}

/** Signs in with a token; returns why that was not possible. */
export function signInWith(token: string): Promise<string | null> {
  return have("POST", SESSION, { token });
}

/** Signs out; returns why that was not possible. */
export function signOut(): Promise<string | null> {
  return have("DELETE", SESSION);
}
