import type { Fault } from '#kernel/errors.js';

/** Theme of a portal. Consists of validated values, without CSS. */
export interface PortalTheme {
  scheme: 'light' | 'dark' | 'system';
  /** `#rrggbb` in lower case; null for the portal's default. */
  accent: string | null;
  /** Corner radius in pixels; `null` for the portal's default. */
  radius: number | null;
  /** An image as a `data:` URL, because the page loads nothing from other hosts. Null if there is none. */
  logo: string | null;
}

export interface ThemeAsked {
  scheme?: PortalTheme['scheme'] | null;
  accent?: string | null;
  radius?: number | null;
  logo?: string | null;
}

export function themeOf({ scheme, accent, radius, logo }: ThemeAsked): PortalTheme {
  return {
    scheme: scheme ?? 'system',
    accent: accent?.toLowerCase() ?? null,
    radius: radius ?? null,
    logo: logo ?? null,
  };
}

/**
 * Returns the errors of a return URL. It must use https. In the test environment, http to the local machine is allowed,
 * too.
 */
export function returnFaults(text: string | null, mode: 'live' | 'test'): Fault[] {
  if (text === null) return [];
  const url = URL.canParse(text) ? new URL(text) : null;
  const isOwnComputer = url !== null && (url.hostname === 'localhost' || url.hostname === '127.0.0.1');
  const isTaken =
    url !== null &&
    url.username === '' &&
    url.password === '' &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && mode === 'test' && isOwnComputer));
  return isTaken
    ? []
    : [{ path: 'return_url', message: 'must be a URL that begins with https://, without user name or password' }];
}
