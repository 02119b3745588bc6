/** The dates of a key that determine its state. */
interface Dated {
  revoked_at: string | null;
  expires_at: string | null;
}

/** Returns the state of a key at the given time. */
export function keyState({ revoked_at, expires_at }: Dated, nowMs: number): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= nowMs ? 'expired' : 'active';
}
