import type { Environment } from '../api/client';
import { RADIUS_PX_MAX } from '../kit/brand/brand';
import { type Font, FONTS } from '../kit/brand/fonts';
import { readJson } from '../kit/json/read-json';

export const PERMISSIONS = ['view', 'manage', 'secrets', 'resend'] as const;
export const EXPIRES_SECONDS = [600, 3_600, 28_800, 86_400] as const;
export const SCHEMES = ['system', 'light', 'dark'] as const;

/** Maximum length of a logo as a `data:` URL, which the API accepts. */
const LOGO_LENGTH_MAX = 32_768;
const ACCENT = /^#[\da-f]{6}$/i;
const LOGO = /^data:image\/(png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/u;

/** Brand of the page that a portal link opens. */
export interface PortalBrand {
  scheme: (typeof SCHEMES)[number];
  /** Accent color as `#rrggbb`. Null for the color of the portal. */
  accent: string | null;
  /** Corner radius in pixels. Null for the radius of the portal. */
  radius: number | null;
  font: Font;
  /** An image as a `data:` URL. Null for no logo. */
  logo: string | null;
}

/** A portal link to create, as the form edits it. */
export interface PortalDraft extends PortalBrand {
  permissions: readonly (typeof PERMISSIONS)[number][];
  expiresSeconds: (typeof EXPIRES_SECONDS)[number];
  locale: 'en' | 'de';
  returnUrl: string;
}

/** Returns the body of the request that creates the link. */
export function portalBodyOf({ permissions, expiresSeconds, locale, returnUrl, ...brand }: PortalDraft) {
  return {
    expires_in: expiresSeconds,
    permissions: PERMISSIONS.filter((each) => each === 'view' || permissions.includes(each)),
    locale,
    theme: themeOf(brand),
    ...(returnUrl.trim() !== '' && { return_url: returnUrl.trim() }),
  };
}

/** Returns why a file cannot be the logo, or null if it can. `url` is the file as a `data:` URL. */
export function logoFault(url: string): 'type' | 'size' | null {
  if (url.length > LOGO_LENGTH_MAX) return 'size';
  return LOGO.test(url) ? null : 'type';
}

const DEFAULT_BRAND: PortalBrand = { scheme: 'system', accent: null, radius: null, font: 'system', logo: null };

const keyOf = (environment: Environment): string => `posthorn.portal-brand.${environment}`;

/** Returns the brand of the last portal link that was created in this browser. Ignores stored values that are invalid. */
export function lastBrand(environment: Environment): PortalBrand {
  try {
    return readBrand(readJson(localStorage.getItem(keyOf(environment)) ?? '').value);
  } catch {
    return DEFAULT_BRAND;
  }
}

/** Stores the brand for the next link and for previews, if the browser allows storage. */
export function keepBrand(environment: Environment, { scheme, accent, radius, font, logo }: PortalBrand): void {
  try {
    localStorage.setItem(keyOf(environment), JSON.stringify({ scheme, accent, radius, font, logo }));
  } catch {
    // Without storage, the next link starts without a brand.
  }
}

/** Reads a stored brand. Replaces each invalid value with its default. */
export function readBrand(stored: unknown): PortalBrand {
  const { scheme, accent, radius, font, logo } = Object(stored) as Readonly<Record<string, unknown>>;
  return {
    scheme: SCHEMES.find((each) => each === scheme) ?? DEFAULT_BRAND.scheme,
    accent: typeof accent === 'string' && ACCENT.test(accent) ? accent : null,
    radius: Number.isInteger(radius) && Number(radius) >= 0 && Number(radius) <= RADIUS_PX_MAX ? Number(radius) : null,
    font: FONTS.find((each) => each === font) ?? DEFAULT_BRAND.font,
    logo: typeof logo === 'string' && logoFault(logo) === null ? logo : null,
  };
}

/** Returns a brand in the format of the API. */
export function themeOf({ scheme, accent, radius, font, logo }: PortalBrand) {
  return {
    scheme,
    ...(accent !== null && { accent }),
    ...(radius !== null && { radius }),
    ...(font !== 'system' && { font }),
    ...(logo !== null && { logo }),
  };
}
