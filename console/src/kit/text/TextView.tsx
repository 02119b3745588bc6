import './text.css';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { PHONE, useMedia } from '../use-media';
import { type Piece, piecesOf, rowsOfText } from './text-rows';

/** Maximum length that browsers can lay out without freezing. For longer text, only visible rows are rendered. */
export const WHOLE_MAX = 20_000;
const ROW_PX = 20;
export const COLUMNS = 120;
export const NARROW_COLUMNS = 40;

/** Result of a search: positions of the matches, their length, and the current match. */
export interface Found {
  matches: readonly number[];
  length: number;
  current: number;
}

/** Result of a search that is not running. */
export const NOTHING_FOUND: Found = { matches: [], length: 0, current: 0 };

/** View of plain text. The text and its lines may have any length. */
export function TextView({
  text,
  label,
  found = NOTHING_FOUND,
}: {
  text: string;
  label: string;
  found?: Found;
}): ReactNode {
  return text.length <= WHOLE_MAX ? (
    <Whole text={text} label={label} found={found} />
  ) : (
    <LongText text={text} label={label} found={found} />
  );
}

function Whole({ text, label, found }: { text: string; label: string; found: Found }): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => void box.current?.querySelector('mark.current')?.scrollIntoView({ block: 'nearest' }), [found]);
  return (
    <pre className="payload" ref={box} tabIndex={0} role="group" aria-label={label}>
      <Pieces of={piecesOf(text, [0, text.length], found.matches, found.length)} current={found.current} />
    </pre>
  );
}

function LongText({ text, label, found }: { text: string; label: string; found: Found }): ReactNode {
  const columns = useMedia(PHONE) ? NARROW_COLUMNS : COLUMNS;
  const rows = useMemo(() => rowsOfText(text, columns), [text, columns]);
  const at = found.matches[found.current];
  return (
    <Rows
      count={rows.count}
      label={label}
      goTo={at === undefined ? null : rows.rowAt(at)}
      numberOf={rows.lineOf}
      rowOf={(row) => (
        <Pieces of={piecesOf(text, rows.bounds(row), found.matches, found.length)} current={found.current} />
      )}
    />
  );
}

interface RowsProps {
  count: number;
  label: string;
  rowOf: (row: number) => ReactNode;
  numberOf?: (row: number) => number | null;
  /** Row to scroll to. */
  goTo?: number | null;
  /** Second row to scroll to, independent of `goTo`. */
  alsoGoTo?: number | null;
  /** Row that stays rendered while it is not visible, because it may have the focus. */
  kept?: number | null;
}

/** Rows of text, of which only the visible ones are rendered. */
export function Rows({
  count,
  label,
  rowOf,
  numberOf,
  goTo = null,
  alsoGoTo = null,
  kept = null,
}: RowsProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    rangeExtractor: (range) => {
      const rows = defaultRangeExtractor(range);
      return kept === null || kept >= count || rows.includes(kept) ? rows : [...rows, kept].sort((a, b) => a - b);
    },
  });
  useEffect(() => {
    if (goTo !== null) virtual.scrollToIndex(goTo, { align: 'center' });
  }, [goTo, virtual]);
  useEffect(() => {
    if (alsoGoTo !== null) virtual.scrollToIndex(alsoGoTo);
  }, [alsoGoTo, virtual]);
  return (
    <div className="text-rows" ref={box} tabIndex={0} role="group" aria-label={label}>
      <div style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <div key={key} className="text-row" style={{ transform: `translateY(${start}px)` }}>
            {numberOf !== undefined && (
              <span className="text-number" aria-hidden="true">
                {numberOf(index)}
              </span>
            )}
            {rowOf(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

function Pieces({ of, current }: { of: readonly Piece[]; current: number }): ReactNode {
  return of.map(({ text, match }, index) =>
    match === null ? (
      text
    ) : (
      <mark key={index} className={match === current ? 'current' : undefined}>
        {text}
      </mark>
    ),
  );
}
