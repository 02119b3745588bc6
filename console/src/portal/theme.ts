/** Theme of a portal, validated by the service. */
export interface Theme {
  scheme: 'light' | 'dark' | 'system';
  accent: string | null;
  radius: number | null;
}

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
 * Sets the CSS variables of the theme. Sets only parsed numbers and colors, so that no other text gets into the CSS.
 */
export function dress(root: HTMLElement, { accent, radius }: Theme): void {
  if (accent !== null && /^#[0-9a-f]{6}$/i.test(accent)) {
    const [light, dark] = [readable(accent, 'light'), readable(accent, 'dark')];
    root.style.setProperty('--accent', `light-dark(${light.accent}, ${dark.accent})`);
    root.style.setProperty('--on-accent', `light-dark(${light.onAccent}, ${dark.onAccent})`);
  }
  if (radius !== null && Number.isInteger(radius) && radius >= 0 && radius <= 24)
    root.style.setProperty('--radius', `${radius}px`);
}

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

const text = (colour: Rgb): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
