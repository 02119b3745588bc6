import { type RefObject, useRef, useState } from 'react';

/** Number of lines by which the drawn part of the text moves at a time. */
const STEP = 20;

/** Returns the lines to draw behind a text area, and moves these lines and the line numbers when it scrolls. */
export function useDrawnLines(field: RefObject<HTMLTextAreaElement | null>, rows: number) {
  const numbers = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const scroll = (): void => {
    if (field.current === null) return;
    const { scrollTop, scrollLeft } = field.current;
    if (numbers.current) numbers.current.scrollTop = scrollTop;
    // Moves the layer at once. Rendering would let the colors lag behind the text area.
    if (layer.current) layer.current.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    const line = scrollTop / parseFloat(getComputedStyle(field.current).lineHeight);
    setFirst(Math.max(0, Math.floor(line / STEP - 1) * STEP));
  };
  return { numbers, layer, first, count: rows + 3 * STEP, scroll };
}
