import { hash } from 'node:crypto';

/** Name and `Set-Cookie` values of a cookie of Posthorn's pages. The cookie is valid for this installation only. */
export interface HostCookie {
  name: string;
  set: (value: string, lifetimeSeconds: number) => string;
  clear: string;
}

export interface CookieOwner {
  baseUrl: string;
  /** A permanent key of this installation only: `Keyring.derived(COOKIE_KEY_PURPOSE)`. */
  key: Buffer;
}

export const COOKIE_KEY_PURPOSE = 'posthorn cookie names v1';
const ID_CHARACTERS = 8;

/**
 * Returns a cookie whose name ends with an id of the installation.
 *
 * The id distinguishes installations on different ports of a host. Browsers send a cookie to every port of its host
 * (RFC 6265, section 8.5), and BASE_URL need not contain the port that the browser uses.
 *
 * If BASE_URL is https, the name begins with `__Host-` (RFC 6265bis, section 4.1.3.2). Browsers accept such a cookie
 * only from this exact host, over TLS, for its whole path.
 */
export function hostCookie(word: string, { baseUrl, key }: CookieOwner): HostCookie {
  const isSecure = new URL(baseUrl).protocol === 'https:';
  const name = `${isSecure ? '__Host-' : ''}${word}_${hash('sha256', key, 'hex').slice(0, ID_CHARACTERS)}`;
  // SameSite is Lax, because users arrive by links and return from the identity provider, which is on another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    name,
    set: (value, lifetimeSeconds) => `${name}=${value}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    clear: `${name}=; Max-Age=0; ${attributes}`,
  };
}
