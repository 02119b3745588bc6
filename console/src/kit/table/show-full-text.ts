import type { MouseEvent } from 'react';

/** Shows the full text of a shortened cell on hover, for cells whose text is known only after rendering. */
export function showFullText({ currentTarget: cell }: MouseEvent<HTMLElement>): void {
  if ([cell, ...cell.querySelectorAll('*')].some(isShortened)) cell.title = cell.innerText.replace(/\s+/g, ' ');
  else cell.removeAttribute('title');
}

function isShortened(element: Element): boolean {
  return element.scrollWidth > element.clientWidth && getComputedStyle(element).textOverflow === 'ellipsis';
}
