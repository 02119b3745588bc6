import './column-handle.css';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { t } from '../messages/t';
import type { ColumnWidths } from './use-column-widths';
import { clampWidth, WIDTH_MAX_PX, WIDTH_MIN_PX } from './widths';

const STEP_PX = 16;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX };

interface ColumnHandleProps extends Pick<ColumnWidths, 'drag' | 'store' | 'reset'> {
  list: string;
  column: string;
  label: string;
}

/**
 * Border of a header cell, which changes the column's width: by dragging, or with the arrow keys. A double-click and
 * the Home key restore the default width. The table's region owns the borders (`aria-owns`), so that the name of a
 * header cell does not include the name of its border.
 */
export function ColumnHandle({ list, column, label, drag, store, reset }: ColumnHandleProps): ReactNode {
  const handle = useRef<HTMLSpanElement>(null);
  const [from, setFrom] = useState<{ x: number; px: number } | null>(null);
  const widthPx = useCellWidth(handle);
  const draggedTo = ({ clientX }: PointerEvent): number =>
    from === null || clientX === from.x ? widthPx : clampWidth(from.px + clientX - from.x);
  const press = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    // Uses the measured width, because the state is updated only after the browser has drawn the previous step.
    if (step !== undefined) store(column, measure(handle.current) + step);
    else if (event.key === 'Home') reset(column);
    else return;
    event.preventDefault();
  };
  return (
    <span
      ref={handle}
      id={handleId(list, column)}
      role="separator"
      tabIndex={0}
      className={from === null ? 'column-handle' : 'column-handle dragged'}
      aria-orientation="vertical"
      aria-valuenow={widthPx}
      aria-valuemin={WIDTH_MIN_PX}
      aria-valuemax={WIDTH_MAX_PX}
      aria-valuetext={t('table.width', { px: widthPx })}
      title={t('table.width-of', { column: label })}
      onKeyDown={press}
      onDoubleClick={() => reset(column)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setFrom({ x: event.clientX, px: measure(event.currentTarget) });
      }}
      onPointerMove={(event) => {
        if (from !== null && event.clientX !== from.x) drag(column, draggedTo(event));
      }}
      onPointerUp={(event) => {
        if (from !== null && event.clientX !== from.x) store(column, draggedTo(event));
        else drag(column, null);
        setFrom(null);
      }}
      onPointerCancel={() => {
        drag(column, null);
        setFrom(null);
      }}
    />
  );
}

/** Returns the ids of the column borders, for the attribute `aria-owns` of the table's region. */
export function handleIds(list: string, columns: readonly { id: string }[]): string {
  return columns.map(({ id }) => handleId(list, id)).join(' ');
}

function handleId(list: string, column: string): string {
  return `width-${list}-${column}`;
}

/** Returns the current width of the header cell, in px. */
function useCellWidth(handle: { current: HTMLElement | null }): number {
  const [px, setPx] = useState(WIDTH_MIN_PX);
  useLayoutEffect(() => {
    const cell = handle.current?.parentElement;
    if (!cell) return;
    const note = (): void => setPx(measure(handle.current));
    note();
    const observer = new ResizeObserver(note);
    observer.observe(cell);
    return () => observer.disconnect();
  }, [handle]);
  return px;
}

function measure(handle: HTMLElement | null): number {
  return clampWidth(handle?.parentElement?.getBoundingClientRect().width ?? 0);
}
