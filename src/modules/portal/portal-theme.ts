import type { Fault } from '#kernel/errors.js';

/** How a portal looks: values, each checked, and never CSS. */
export interface PortalTheme {
  scheme: 'light' | 'dark' | 'system';
  /** `#rrggbb` in lower case; null for the portal's own. */
  accent: string | null;
  /** Of corners, in pixels; null for the portal's own. */
  radius: number | null;
  /** A picture as a `data:` URL: the page asks nobody else for anything. Null without one. */
  logo: string | null;
}

/** What a caller says of it; what is left out, and null, is the default. */
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

/** Why people may not be led to an address when they leave the portal: https, or plain http on the own computer in test. */
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
    : [{ path: 'return_url', message: 'is an address that begins with https://, without a name or password in it' }];
}
