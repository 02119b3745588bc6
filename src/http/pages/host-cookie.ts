import { hash } from 'node:crypto';

/** How a cookie of our own pages is named and set, where it belongs to this installation alone. */
export interface HostCookie {
  name: string;
  /** `Set-Cookie` with a value, for as long as it may count. */
  set: (value: string, lifetimeSeconds: number) => string;
  /** `Set-Cookie` that takes it away. */
  clear: string;
}

/** The installation that a cookie belongs to. */
export interface CookieOwner {
  baseUrl: string;
  /** A key that the installation keeps for good and shares with no other one: `Keyring.derived(COOKIE_KEY_PURPOSE)`. */
  key: Buffer;
}

export const COOKIE_KEY_PURPOSE = 'posthorn cookie names v1';
const ID_CHARACTERS = 8;

/**
 * Returns a cookie whose name ends with an id of the installation. A browser sends cookies to every port of a host
 * (RFC 6265, section 8.5), and BASE_URL need not say which port people open. So only the installation itself can tell its cookies apart.
 *
 * Where BASE_URL is https the name begins with `__Host-` (RFC 6265bis, section 4.1.3.2): browsers accept such a cookie from this
 * very host alone, over TLS, for its whole path.
 */
export function hostCookie(word: string, { baseUrl, key }: CookieOwner): HostCookie {
  const isSecure = new URL(baseUrl).protocol === 'https:';
  const name = `${isSecure ? '__Host-' : ''}${word}_${hash('sha256', key, 'hex').slice(0, ID_CHARACTERS)}`;
  // Lax: people come here by links, and back from the identity provider, which stands on another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    name,
    set: (value, lifetimeSeconds) => `${name}=${value}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    clear: `${name}=; Max-Age=0; ${attributes}`,
  };
}
