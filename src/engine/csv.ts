/** First characters that make spreadsheets treat a cell as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180. A cell like a formula gets a leading apostrophe, which spreadsheets do not show. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  const text =
    typeof value === 'string' && FORMULA.test(value.trimStart() === '' ? value : value.replace(/^[ ]+/, ''))
      ? `'${value}`
      : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
