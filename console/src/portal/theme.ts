/** How a portal looks, as the service checked it. */
export interface Theme {
  scheme: 'light' | 'dark' | 'system';
  accent: string | null;
  radius: number | null;
}

/** What one colour becomes on one ground: for texts and lines, and for what stands on it. */
export interface Tones {
  accent: string;
  onAccent: string;
}

type Rgb = readonly [number, number, number];

/** The grounds of `kit/theme.css`: the harder of page and panel in each scheme. */
const GROUNDS = { light: [243, 245, 248], dark: [37, 43, 51] } as const satisfies Record<string, Rgb>;
const BLACK: Rgb = [11, 14, 20];
const WHITE: Rgb = [255, 255, 255];
/** WCAG 2.2, 1.4.3: what people can read. */
const CONTRAST_MIN = 4.5;

/** The colour as it can be read on the ground of a scheme: itself, or the first tone towards black or white that can. */
export function readable(accent: string, scheme: 'light' | 'dark'): Tones {
  const own = rgbOf(accent);
  const end = scheme === 'light' ? BLACK : WHITE;
  let tone = own;
  for (let step = 0; step <= 20 && contrast(tone, GROUNDS[scheme]) < CONTRAST_MIN; step += 1)
    tone = mixed(own, end, step / 20);
  return { accent: text(tone), onAccent: text(contrast(tone, WHITE) >= contrast(tone, BLACK) ? WHITE : BLACK) };
}

/** Sets what the styles go by. Numbers and colours that were parsed here: no text of anybody becomes CSS. */
export function dress(root: HTMLElement, { accent, radius }: Theme): void {
  if (accent !== null && /^#[0-9a-f]{6}$/i.test(accent)) {
    const [light, dark] = [readable(accent, 'light'), readable(accent, 'dark')];
    root.style.setProperty('--accent', `light-dark(${light.accent}, ${dark.accent})`);
    root.style.setProperty('--on-accent', `light-dark(${light.onAccent}, ${dark.onAccent})`);
  }
  if (radius !== null && Number.isInteger(radius) && radius >= 0 && radius <= 24)
    root.style.setProperty('--radius', `${radius}px`);
}

/** WCAG 2.2: the ratio of the relative luminances. */
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
