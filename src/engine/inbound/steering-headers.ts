/**
 * Headers of an answer by which a tenant would steer what is not his: the proxy in front of us (which serves files by
 * `X-Accel-Redirect` and `X-Sendfile`), where browsers report for everything at our address, where they go from there, and
 * for what they ask users for a password.
 */
export const STEERING_HEADERS: ReadonlySet<string> = new Set([
  'x-accel-redirect',
  'x-accel-buffering',
  'x-accel-charset',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-sendfile',
  'x-lighttpd-send-file',
  'refresh',
  'nel',
  'report-to',
  'reporting-endpoints',
  'www-authenticate',
]);

/** The headers, in lower case, without those: settings that an earlier version saved may have them. */
export function withoutSteering(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !STEERING_HEADERS.has(name)));
}

/** Paths of such headers in `{rules: [{respond}], default}`, which compiles with them as it did when it was saved. */
export function steeringPaths(rules: unknown, at: string): string[] {
  return ruleHeaders(rules, at).flatMap(([path, headers]) =>
    Object.keys(headers)
      .filter((name) => STEERING_HEADERS.has(name.toLowerCase()))
      .map((name) => `${path}.${name}`),
  );
}

/** The headers of every answer in such rules, each with its path. */
export function ruleHeaders(rules: unknown, at: string): [string, Readonly<Record<string, unknown>>][] {
  const { rules: list = [], default: fallback } = rules as { rules?: { respond?: unknown }[]; default?: unknown };
  const answers: [string, unknown][] = list.map(({ respond }, i) => [`${at}.rules.${i}.respond`, respond]);
  return [...answers, [`${at}.default`, fallback] as const].map(([path, answer]) => {
    const { headers } = (answer ?? {}) as { headers?: Readonly<Record<string, unknown>> };
    return [`${path}.headers`, headers ?? {}];
  });
}
