import { type RefObject, useLayoutEffect } from 'react';
import { shrinkWidths, type Widths } from './widths';

/**
 * Gives the header cells of a table the widths that the user chose. Makes these columns narrower if the table would be
 * wider than a region that does not scroll. `shape` describes the columns: the widths are set again when it changes.
 */
export function useFittedWidths(region: RefObject<HTMLElement | null>, widths: Widths, shape: string): void {
  useLayoutEffect(() => {
    const box = region.current;
    const table = box?.querySelector('table');
    if (!box || !table) return;
    const heads = [...table.querySelectorAll<HTMLElement>('th[data-column]')];
    const sized = heads.filter(({ dataset }) => widths[dataset['column'] ?? ''] !== undefined);
    const wanted = sized.map(({ dataset }) => widths[dataset['column'] ?? ''] ?? 0);
    const fit = (): void => {
      for (const head of heads) setWidth(head, null);
      sized.forEach((head, index) => setWidth(head, wanted[index] ?? null));
      if (sized.length === 0 || getComputedStyle(box).overflowX !== 'visible') return;
      const excessPx = table.offsetWidth - box.clientWidth;
      if (excessPx <= 0) return;
      const fitting = shrinkWidths(wanted, excessPx);
      sized.forEach((head, index) => setWidth(head, fitting[index] ?? null));
    };
    fit();
    let frame = 0;
    // Waits for the next frame, because an observer that resizes its own element causes a browser error.
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(fit);
    });
    observer.observe(box);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, [region, widths, shape]);
}

function setWidth({ style }: HTMLElement, px: number | null): void {
  style.width = style.minWidth = style.maxWidth = px === null ? '' : `${px}px`;
}
