/**
 * Fonts by name. Each is a list of fonts that operating systems install, and ends with a generic family. The page loads
 * no font files.
 */
const STACKS = {
  system: 'system-ui, sans-serif',
  sans: "'Helvetica Neue', Helvetica, 'Nimbus Sans', Arial, 'Liberation Sans', sans-serif",
  humanist: "Seravek, 'Gill Sans Nova', Ubuntu, Calibri, 'DejaVu Sans', sans-serif",
  geometric: "Avenir, Montserrat, Corbel, 'URW Gothic', 'Century Gothic', sans-serif",
  rounded: "ui-rounded, 'Hiragino Maru Gothic ProN', Quicksand, Nunito, 'Arial Rounded MT Bold', sans-serif",
  serif: "Charter, 'Bitstream Charter', 'Sitka Text', Cambria, 'DejaVu Serif', serif",
  slab: "Rockwell, 'Rockwell Nova', 'Roboto Slab', 'DejaVu Serif', serif",
  mono: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  arial: "Arial, 'Liberation Sans', Helvetica, sans-serif",
  georgia: "Georgia, 'DejaVu Serif', serif",
  inter: 'Inter, system-ui, sans-serif',
  roboto: 'Roboto, system-ui, sans-serif',
  verdana: "Verdana, 'DejaVu Sans', Geneva, sans-serif",
} as const;

export type Font = keyof typeof STACKS;

export const FONTS = Object.keys(STACKS) as readonly Font[];

/** Returns the value of the CSS property `font-family`, or null if the name is not in the list. */
export function fontFamily(name: string): string | null {
  return Object.hasOwn(STACKS, name) ? STACKS[name as Font] : null;
}
