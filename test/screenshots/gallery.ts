/** A picture, and the faults that were found on the page. */
export interface Picture {
  readonly state: string;
  readonly width: number;
  readonly screen: string;
  readonly isDark: boolean;
  /** Path below the folder of the results. */
  readonly file: string;
  readonly faults: readonly string[];
}

/** Returns a page that shows all pictures, one row for each screen and state. */
export function galleryOf(pictures: readonly Picture[]): string {
  const rows = new Map<string, Picture[]>();
  for (const picture of pictures) {
    const title = `${picture.screen} · ${picture.state}`;
    rows.set(title, [...(rows.get(title) ?? []), picture]);
  }
  const sections = [...rows].map(
    ([title, shown]) => `<h2>${escape(title)}</h2><div>${shown.map(figureOf).join('')}</div>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>Screenshots of the console</title>
<style>
  body { font: 14px system-ui; margin: 24px }
  div { display: flex; gap: 16px; overflow-x: auto; align-items: start }
  figure { margin: 0; flex: none; max-width: 480px }
  img { width: 480px; height: 320px; object-fit: cover; object-position: top; border: 1px solid #ccc }
  li { color: #b00 }
</style>
<h1>Screenshots of the console</h1>
${sections.join('\n')}
`;
}

function figureOf({ file, width, isDark, faults }: Picture): string {
  const items = faults.map((fault) => `<li>${escape(fault)}</li>`).join('');
  return `<figure><a href="${file}"><img loading="lazy" alt="" src="${file}"></a><figcaption>${width} px${isDark ? ', dark' : ''}</figcaption><ul>${items}</ul></figure>`;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
