/** Scrolls a row of links sideways so that the link to the current page is visible. Use it as the ref of the row. */
export function showCurrent(row: HTMLElement | null): void {
  const current = row?.querySelector('[aria-current]');
  if (row === null || current == null) return;
  const [outer, inner] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
  row.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}
