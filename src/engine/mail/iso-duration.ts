const DURATION = /^P(?:(\d{1,4})W|(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?)$/;
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const;

/** Returns an ISO 8601 duration (`P7D`, `PT12H`) in milliseconds. Null for months, years and other texts. */
export function durationMs(text: string): number | null {
  const found = DURATION.exec(text);
  if (found === null || !/\d[A-Z]$/.test(text)) return null;
  const [weeks, days, hours, minutes] = found.slice(1).map((count) => Number(count ?? 0)) as [
    number,
    number,
    number,
    number,
  ];
  return (weeks * 7 + days) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS;
}
