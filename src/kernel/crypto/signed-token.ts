import { createHmac, timingSafeEqual } from 'node:crypto';

const MAC_BYTES = 32;

/** Returns a signed token with the content `said`, which must be serializable as JSON. All characters are URL-safe. */
export function signToken(key: Buffer, said: unknown): string {
  const body = Buffer.from(JSON.stringify(said)).toString('base64url');
  return `${body}.${macOf(key, body).toString('base64url')}`;
}

/** Returns the content of a token that was signed with this key. Null for any other text. */
export function readSignedToken(key: Buffer, token: string): unknown {
  const [body = '', mac = '', ...rest] = token.split('.');
  const given = Buffer.from(mac, 'base64url');
  if (rest.length > 0 || given.length !== MAC_BYTES || !timingSafeEqual(given, macOf(key, body))) return null;
  return JSON.parse(Buffer.from(body, 'base64url').toString());
}

/**
 * Returns the content of a signed token. The content must be a list that ends with the token's expiry time. Returns
 * null after that time, and for any text that is not a token of this key.
 */
export function readExpiringToken<S extends readonly [...unknown[], expiresAtMs: number]>(
  key: Buffer,
  token: string,
  nowMs: number,
): S | null {
  const said = readSignedToken(key, token) as S | null;
  return said === null || (said.at(-1) as number) < nowMs ? null : said;
}

const macOf = (key: Buffer, body: string): Buffer => createHmac('sha256', key).update(body).digest();
