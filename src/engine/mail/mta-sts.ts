/** An MTA-STS policy (RFC 8461, section 3.2). */
export interface MtaStsPolicy {
  mode: 'enforce' | 'testing' | 'none';
  /** Patterns for the names of the domain's mail servers, in lower case. */
  mx: string[];
  maxAgeSeconds: number;
}

/** Maximum lifetime of a policy: one year. */
const MAX_AGE_SECONDS_MAX = 31_557_600;
const PATTERNS_MAX = 100;
const RECORD = /^v=STSv1\s*;(?:[^;]*;)*?\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*(?:;|$)/;
const NAME = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}$/;

/**
 * Returns the policy id from the TXT records of `_mta-sts.<domain>`. Null unless exactly one record has an id (RFC
 * 8461).
 */
export function announcedPolicy(records: readonly string[]): string | null {
  const announcing = records.filter((record) => /^v=STSv1\s*;/.test(record));
  return announcing.length === 1 ? (RECORD.exec(announcing[0] ?? '')?.[1] ?? null) : null;
}

/** Parses a policy. Returns null for other text. If a key other than `mx` is repeated, its first value applies. */
export function readPolicy(text: string): MtaStsPolicy | null {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, key = '', rest = ''] = /^\s*([A-Za-z0-9][A-Za-z0-9_.-]{0,31})\s*:(.*)$/.exec(line.trimEnd()) ?? [];
    const value = rest.trim();
    if (key === 'mx') mx.push(value.toLowerCase().replace(/\.$/, ''));
    else if (key !== '' && !fields.has(key)) fields.set(key, value);
  }
  const [mode, maxAge] = [fields.get('mode'), fields.get('max_age') ?? ''];
  if (fields.get('version') !== 'STSv1' || !/^\d{1,10}$/.test(maxAge)) return null;
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return null;
  const named = mx.filter((name) => NAME.test(name)).slice(0, PATTERNS_MAX);
  if (mode !== 'none' && named.length === 0) return null;
  return { mode, mx: named, maxAgeSeconds: Math.min(Number(maxAge), MAX_AGE_SECONDS_MAX) };
}

/** Returns whether a pattern in `mx` matches the host. A star matches exactly one label (RFC 8461, section 4.1). */
export function isNamed({ mx }: Pick<MtaStsPolicy, 'mx'>, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return mx.some((pattern) =>
    pattern.startsWith('*.')
      ? name.slice(name.indexOf('.') + 1) === pattern.slice(2) && name.includes('.')
      : name === pattern,
  );
}
