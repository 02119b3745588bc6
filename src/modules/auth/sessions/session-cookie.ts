import { type CookieOwner, type HostCookie, hostCookie } from '#http/pages/host-cookie.js';

export interface SessionCookie extends HostCookie {
  /** Returns the token in a `Cookie` header, or `null` if the header has no well-formed token. */
  read: (header: string | undefined) => string | null;
}

/** Matches 32 bytes in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(owner: CookieOwner): SessionCookie {
  const cookie = hostCookie('posthorn_session', owner);
  return {
    ...cookie,
    read: (header) => {
      for (const pair of header?.split(';') ?? []) {
        const [key, value = ''] = pair.trim().split('=', 2);
        if (key === cookie.name && TOKEN.test(value)) return value;
      }
      return null;
    },
  };
}
