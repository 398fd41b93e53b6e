/** Answers of the lab's queries, fetched by the pages that show them. */

import { useEffect, useState } from "preact/hooks";

/** A query could not be answered; the message is for the reader of the page. */
export class Unanswered extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** What is known of an answer: nothing yet, the answer, or why there is none. */
export interface Answer<Data> {
  data: Data | null;
  fault: Unanswered | null;
}

const KEPT = 60;
const kept = new Map<string, unknown>();

/** The URL of a query with its parameters; empty ones are left out. */
export function queryUrl(
  name: string,
  parameters: Record<string, string | number | boolean | readonly string[] | null | undefined> = {},
): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (part !== null && part !== undefined && part !== "") {
        given.append(key, String(part));
      }
    }
  }
  const query = given.toString();
  return `/api/v1/pages/${name}${query === "" ? "" : `?${query}`}`;
}

/** Fetches JSON of the lab; throws `Unanswered`. */
export async function fetchJson<Data>(url: string, signal?: AbortSignal): Promise<Data> {
  let response: Response;
  try {
    response = await fetch(url, { headers: { Accept: "application/json" }, signal: signal ?? null });
  } catch (fault) {
    if (signal?.aborted) {
      throw fault;
    }
    throw new Unanswered("The lab does not answer. It is tried again when the page is loaded again.", 0);
  }
  if (!response.ok) {
    throw new Unanswered(await problemIn(response), response.status);
  }
  return (await response.json()) as Data;
}

/** Answers that are asked for before there is a page to show them, by their URLs; later they are asked for anew. */
let early = new Map<string, Promise<unknown>>();
let earlyBegan = 0;
const EARLY_MS = 10_000;

/** Asks for what a page begins with, instead of what the page before has not taken. */
export function askEarly(urls: readonly string[]): void {
  earlyBegan = performance.now();
  early = new Map(urls.map((url) => [url, fetchJson(url)]));
  for (const answer of early.values()) {
    // Who takes the answer handles its fault.
    answer.catch(() => undefined);
  }
}

/** The answer at a URL of JSON, once of what was asked for early; throws `Unanswered`. */
export function answerAt<Data>(url: string, signal?: AbortSignal): Promise<Data> {
  const asked = early.get(url) as Promise<Data> | undefined;
  early.delete(url);
  const isFresh = performance.now() - earlyBegan < EARLY_MS;
  return asked !== undefined && isFresh ? asked : fetchJson(url, signal);
}

/** What a refusal states. */
export async function problemIn(response: Response): Promise<string> {
  try {
    const problem = (await response.json()) as { detail?: unknown; hint?: unknown };
    const hint = typeof problem.hint === "string" && problem.hint !== "" ? ` (${problem.hint})` : "";
    return `${typeof problem.detail === "string" ? problem.detail : response.statusText}${hint}`;
  } catch {
    return `The lab has answered with the status ${response.status}.`;
  }
}

/**
 * The answer at a URL of JSON; the last answer is shown until the next one is there. With `againAfterMs` it is fetched
 * again and again. Without a URL nothing is fetched.
 */
export function useAnswer<Data>(url: string | null, againAfterMs?: number): Answer<Data> {
  const [answer, setAnswer] = useState<Answer<Data> & { url: string | null }>({
    url: null,
    data: null,
    fault: null,
  });
  useEffect(() => {
    if (url === null) {
      return undefined;
    }
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const data = await answerAt<Data>(url, ending.signal);
        if (ending.signal.aborted) {
          return;
        }
        keep(url, data);
        setAnswer({ url, data, fault: null });
      } catch (fault) {
        if (ending.signal.aborted) {
          return;
        }
        const stated = fault instanceof Unanswered ? fault : new Unanswered(String(fault), 0);
        setAnswer((before) => ({ url, data: before.url === url ? before.data : null, fault: stated }));
      }
      if (againAfterMs !== undefined) {
        timer = setTimeout(ask, againAfterMs);
      }
    };
    void ask();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [url, againAfterMs]);
  if (answer.url === url) {
    return answer;
  }
  // A page that was shown before is drawn at once, and again when its answer is there.
  return { data: url === null ? null : ((kept.get(url) as Data | undefined) ?? null), fault: null };
}

function keep(url: string, data: unknown): void {
  kept.delete(url);
  kept.set(url, data);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) {
      break;
    }
    kept.delete(oldest);
  }
}
