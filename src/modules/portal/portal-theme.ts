import type { Fault } from '#kernel/errors.js';

/**
 * Fonts of the portal, by name. The portal page maps each name to fonts that are installed on the customer's device,
 * because the page loads no font files from other hosts.
 */
export const PORTAL_FONTS = [
  'system',
  'sans',
  'humanist',
  'geometric',
  'rounded',
  'serif',
  'slab',
  'mono',
  'arial',
  'georgia',
  'inter',
  'roboto',
  'verdana',
] as const;

export type PortalFont = (typeof PORTAL_FONTS)[number];

/** Theme of a portal. Consists of validated values, without CSS. */
export interface PortalTheme {
  scheme: 'light' | 'dark' | 'system';
  /** `#rrggbb` in lower case; null for the portal's default. */
  accent: string | null;
  /** Corner radius in pixels; `null` for the portal's default. */
  radius: number | null;
  /** An image as a `data:` URL, because the page loads nothing from other hosts. Null if there is none. */
  logo: string | null;
  /** Null for the portal's default. Missing in sessions that an earlier version of Posthorn opened. */
  font?: PortalFont | null;
}

export interface ThemeAsked {
  scheme?: PortalTheme['scheme'] | null;
  accent?: string | null;
  radius?: number | null;
  logo?: string | null;
  font?: PortalFont | null;
}

export function themeOf({ scheme, accent, radius, logo, font }: ThemeAsked): PortalTheme {
  return {
    scheme: scheme ?? 'system',
    accent: accent?.toLowerCase() ?? null,
    radius: radius ?? null,
    logo: logo ?? null,
    font: font ?? null,
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
