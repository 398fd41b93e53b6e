/** What the lab has every page say, as where its data are made up. */
export const NOTICE = document.querySelector<HTMLMetaElement>('meta[name="zerolap-notice"]')?.content ?? null;

/** Notes without the one that each page has at its top. */
export function besideNotice(notes: string[]): string[] {
  return notes.filter((note) => note !== NOTICE);
}
