/** What a variable of the theme is in the scheme of now, in a form that a canvas takes: `light-dark()` is none. */
export function colourOf(place: Element, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A computed colour made translucent; one that is not told as `rgb()` stays as it is. */
export function faded(colour: string, percent: number): string {
  const [, red, green, blue] = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/.exec(colour) ?? [];
  return red === undefined ? colour : `rgb(${red} ${green} ${blue} / ${percent}%)`;
}
