/** Supported codings, the preferred one first. */
export const CONTENT_CODINGS = ['br', 'gzip'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

/**
 * Returns the content coding, or null for none (RFC 9110, 12.5.3). At equal weights, Brotli wins, because it saves more
 * bytes.
 */
export function preferredCoding(
  accepted: string | undefined,
  offered: readonly ContentCoding[] = CONTENT_CODINGS,
): ContentCoding | null {
  if (accepted === undefined) return null;
  const weights = new Map<string, number>();
  for (const each of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = each.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, q === undefined ? 1 : Number(q.slice(2)) || 0);
  }
  const weightOf = (coding: ContentCoding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = Math.max(0, ...offered.map(weightOf));
  // Returns null if no supported coding is acceptable, or if `identity` (no compression) has a higher weight than the
  // best coding.
  if (best === 0 || best < (weights.get('identity') ?? 0)) return null;
  return offered.find((coding) => weightOf(coding) === best) ?? null;
}
