/**
 * Returns the current value of a theme variable as a color that a canvas accepts. The variables use `light-dark()`,
 * which a canvas does not accept.
 */
export function colourOf(place: Element, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Makes a computed color translucent. Returns colors that are not in `rgb()` notation unchanged. */
export function faded(colour: string, percent: number): string {
  const [, red, green, blue] = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/.exec(colour) ?? [];
  return red === undefined ? colour : `rgb(${red} ${green} ${blue} / ${percent}%)`;
}
