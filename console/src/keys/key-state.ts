/** What of a key says whether it can be used. */
interface Dated {
  revoked_at: string | null;
  expires_at: string | null;
}

/** Whether a key can be used at a moment. */
export function keyState({ revoked_at, expires_at }: Dated, nowMs: number): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= nowMs ? 'expired' : 'active';
}
