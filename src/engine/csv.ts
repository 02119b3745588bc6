/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * One line of CSV (RFC 4180). No cell is a formula, whoever wrote it: what looks like one gets an apostrophe, which spreadsheets
 * do not show.
 */
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
