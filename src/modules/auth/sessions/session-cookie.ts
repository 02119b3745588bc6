import { type CookieOwner, type HostCookie, hostCookie } from '#http/pages/host-cookie.js';

/** The cookie of sessions: its name, and how it is written and found. */
export interface SessionCookie extends HostCookie {
  /** The token in a `Cookie` header; null when there is none that could be one. */
  read: (header: string | undefined) => string | null;
}

/** 32 bytes in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The cookie of this installation. */
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
