const SECONDS_SHOWN_AS_DATE = 86_400 * 2;
const UNITS = [
  { seconds: 3600, name: "h" },
  { seconds: 60, name: "min" },
] as const;

/** A moment in UTC: how long ago it was, and when; only when, if it was days ago. Nothing for none. */
export function Moment({ at }: { at: string | null }) {
  const then = at === null || at === "" ? Number.NaN : Date.parse(at);
  if (at === null || Number.isNaN(then)) {
    return null;
  }
  const seconds = Math.max(0, (Date.now() - then) / 1000);
  const when = at.replace("T", " ").replace(/(:\d\d)?(Z|\+00:00)$/, " UTC");
  return (
    <time dateTime={at} title={when} class="moment">
      {seconds > SECONDS_SHOWN_AS_DATE ? when : `${ago(seconds)} ago`}
    </time>
  );
}

/** A duration in one unit. */
export function ago(seconds: number): string {
  const unit = UNITS.find((larger) => seconds >= 2 * larger.seconds);
  return unit === undefined
    ? `${Math.round(seconds)} s`
    : `${Math.floor(seconds / unit.seconds)} ${unit.name}`;
}
