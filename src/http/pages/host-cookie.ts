/** How a cookie of our own pages is named and set, where it belongs to this installation alone. */
export interface HostCookie {
  name: string;
  /** `Set-Cookie` with a value, for as long as it may count. */
  set: (value: string, lifetimeSeconds: number) => string;
  /** `Set-Cookie` that takes it away. */
  clear: string;
}

/**
 * Where BASE_URL is https the name begins with `__Host-` (RFC 6265bis, section 4.1.3.2): browsers take such a cookie from this
 * very host alone, over TLS, for its whole path. So a path below which the service stands is part of the name instead, and two
 * installations on one host do not take each other's.
 */
export function hostCookie(word: string, baseUrl: string): HostCookie {
  const { protocol, pathname } = new URL(baseUrl);
  const below = pathname.split(/[^A-Za-z0-9]+/).filter(Boolean).map((part) => `_${part}`).join('');
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Host-' : ''}${word}${below}`;
  // Lax: people come here by links, and back from the identity provider, which stands on another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    name,
    set: (value, lifetimeSeconds) => `${name}=${value}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    clear: `${name}=; Max-Age=0; ${attributes}`,
  };
}
