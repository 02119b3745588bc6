/**
 * Response headers by which a tenant could affect more than their own response. `X-Accel-Redirect` and `X-Sendfile`
 * make the proxy in front of Posthorn serve its own files. The others cause reports, navigation or password prompts in
 * browsers.
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

/**
 * Returns the headers without those in `STEERING_HEADERS`, which settings of older versions may contain. Names must be
 * in lower case.
 */
export function withoutSteering(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !STEERING_HEADERS.has(name)));
}

/**
 * Returns the paths of headers from `STEERING_HEADERS` in `{rules: [{respond}], default}`. Rules stored by older
 * versions may contain them.
 */
export function steeringPaths(rules: unknown, at: string): string[] {
  return ruleHeaders(rules, at).flatMap(([path, headers]) =>
    Object.keys(headers)
      .filter((name) => STEERING_HEADERS.has(name.toLowerCase()))
      .map((name) => `${path}.${name}`),
  );
}

export function ruleHeaders(rules: unknown, at: string): [string, Readonly<Record<string, unknown>>][] {
  const { rules: list = [], default: fallback } = rules as { rules?: { respond?: unknown }[]; default?: unknown };
  const answers: [string, unknown][] = list.map(({ respond }, i) => [`${at}.rules.${i}.respond`, respond]);
  return [...answers, [`${at}.default`, fallback] as const].map(([path, answer]) => {
    const { headers } = (answer ?? {}) as { headers?: Readonly<Record<string, unknown>> };
    return [`${path}.headers`, headers ?? {}];
  });
}
