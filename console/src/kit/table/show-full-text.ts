import type { MouseEvent } from 'react';

/** Shows the full text of a shortened cell on hover, if the content of the cell has no tooltip of its own. */
export function showFullText({ currentTarget: cell }: MouseEvent<HTMLElement>): void {
  if (cell.querySelector('[title]') !== null) return;
  if (cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText;
  else cell.removeAttribute('title');
}
