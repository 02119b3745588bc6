/** The cookie of sessions: its name, and how it is written and found. */
export interface SessionCookie {
  name: string;
  /** `Set-Cookie` with a token, for as long as the session can last. */
  set: (token: string, lifetimeSeconds: number) => string;
  /** `Set-Cookie` that takes it away. */
  clear: string;
  /** The token in a `Cookie` header; null when there is none that could be one. */
  read: (header: string | undefined) => string | null;
}

/** 32 bytes in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Where BASE_URL is https the name begins with `__Host-` (RFC 6265bis, section 4.1.3.2): browsers take such a cookie from this
 * very host alone, over TLS, for its whole path. So a path below which the service stands is part of the name instead.
 */
export function sessionCookie(baseUrl: string): SessionCookie {
  const { protocol, pathname } = new URL(baseUrl);
  const below = pathname.split(/[^A-Za-z0-9]+/).filter(Boolean).map((part) => `_${part}`).join('');
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Host-' : ''}posthorn_session${below}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    name,
    set: (token, lifetimeSeconds) => `${name}=${token}; Max-Age=${lifetimeSeconds}; ${attributes}`,
    clear: `${name}=; Max-Age=0; ${attributes}`,
    read: (header) => {
      for (const pair of header?.split(';') ?? []) {
        const [key, value = ''] = pair.trim().split('=', 2);
        if (key === name && TOKEN.test(value)) return value;
      }
      return null;
    },
  };
}
