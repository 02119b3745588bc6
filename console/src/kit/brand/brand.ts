import { fontFamily } from './fonts';

/** Brand of a page. A null value stands for the page's own style. */
export interface Brand {
  /** Accent color as `#rrggbb`. */
  accent: string | null;
  /** Corner radius in pixels. */
  radius: number | null;
  /** Name of a font in `fonts.ts`. */
  font: string | null;
}

export const RADIUS_PX_MAX = 24;
/** Maximum radius of buttons and fields, which would otherwise look like pills. */
const CONTROL_RADIUS_PX_MAX = 12;
const SMALL_RADIUS_PX_MAX = 6;

/**
 * Colors derived from an accent color for one background. `accent` is for text and borders on the background.
 * `onAccent` is for text on the accent color.
 */
export interface Tones {
  accent: string;
  onAccent: string;
}

type Rgb = readonly [number, number, number];

/**
 * Background color of each color scheme: the page color or the panel color of `kit/theme.css`, whichever has less
 * contrast.
 */
const GROUNDS = { light: [243, 245, 248], dark: [37, 43, 51] } as const satisfies Record<string, Rgb>;
const BLACK: Rgb = [11, 14, 20];
const WHITE: Rgb = [255, 255, 255];
/** Minimum contrast of text (WCAG 2.2, 1.4.3). */
const CONTRAST_MIN = 4.5;

/**
 * Returns the accent color if it is readable on the background of a scheme. Otherwise returns the first readable shade
 * toward black or white.
 */
export function readable(accent: string, scheme: 'light' | 'dark'): Tones {
  const own = rgbOf(accent);
  const end = scheme === 'light' ? BLACK : WHITE;
  let tone = own;
  for (let step = 0; step <= 20 && contrast(tone, GROUNDS[scheme]) < CONTRAST_MIN; step += 1)
    tone = mixed(own, end, step / 20);
  return { accent: text(tone), onAccent: text(contrast(tone, WHITE) >= contrast(tone, BLACK) ? WHITE : BLACK) };
}

/**
 * Returns the CSS variables of a brand. Contains only parsed numbers, computed colors and fonts of a fixed list, so that
 * no other text gets into the CSS.
 */
export function brandVariables({ accent, radius, font }: Brand): Record<`--${string}`, string> {
  const family = font === null ? null : fontFamily(font);
  return {
    ...(accent !== null && /^#[0-9a-f]{6}$/i.test(accent) && colorVariables(accent)),
    ...(radius !== null &&
      Number.isInteger(radius) &&
      radius >= 0 &&
      radius <= RADIUS_PX_MAX &&
      radiusVariables(radius)),
    ...(family !== null && { '--font': family }),
  };
}

/** Applies a brand to an element and its descendants. Replaces the brand that was applied before. */
export function applyBrand({ style }: HTMLElement, brand: Brand): void {
  for (const name of VARIABLES) style.removeProperty(name);
  for (const [name, value] of Object.entries(brandVariables(brand))) style.setProperty(name, value);
}

function colorVariables(accent: string): Record<`--${string}`, string> {
  const [light, dark] = [readable(accent, 'light'), readable(accent, 'dark')];
  return {
    '--accent': `light-dark(${light.accent}, ${dark.accent})`,
    '--on-accent': `light-dark(${light.onAccent}, ${dark.onAccent})`,
    '--chosen': 'color-mix(in srgb, var(--accent) 10%, var(--page))',
  };
}

function radiusVariables(px: number): Record<`--${string}`, string> {
  return {
    '--radius': `${px}px`,
    '--radius-sm': `${Math.min(px, SMALL_RADIUS_PX_MAX)}px`,
    '--radius-md': `${Math.min(px, CONTROL_RADIUS_PX_MAX)}px`,
    '--radius-lg': `${px}px`,
    '--radius-xl': `${px}px`,
  };
}

const VARIABLES = Object.keys({ ...colorVariables('#000000'), ...radiusVariables(0), '--font': '' });

/** Returns the contrast ratio of two colors (WCAG 2.2). */
export function contrast(a: Rgb, b: Rgb): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

export function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(colour: Rgb): number {
  const [r = 0, g = 0, b = 0] = colour.map((part) =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (i: 0 | 1 | 2): number => Math.round(a[i] + (b[i] - a[i]) * share);
  return [part(0), part(1), part(2)];
}

function text(colour: Rgb): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
