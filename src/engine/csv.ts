/** First characters that make spreadsheets treat a cell as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Formats a row (RFC 4180). A cell that looks like a formula gets a leading apostrophe, which spreadsheets hide. */
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
