import './json.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../messages/t';
import { piecesOf, rowsOfText } from '../text/text-rows';
import { COLUMNS, type Found, NARROW_COLUMNS, Rows, WHOLE_MAX } from '../text/TextView';
import { useMedia } from '../use-media';
import { FoldButton } from './FoldButton';
import { type JsonLines, linesOfJson } from './json-lines';
import { colorPieces, type JsonToken, lineTokens } from './json-tokens';
import { type Folds, useFolds } from './use-folds';

interface JsonViewProps {
  text: string;
  label: string;
  found: Found;
  /** Whether the text comes from `formatJson`, so that objects and arrays can be folded. */
  isFormatted: boolean;
}

/** Colored JSON text of any length, exactly as given. Objects and arrays of formatted text can be folded. */
export function JsonView({ text, label, found, isFormatted }: JsonViewProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [goTo, setGoTo] = useState<number | null>(null);
  const lines = useMemo(() => linesOfJson(text, isFormatted), [text, isFormatted]);
  const tokens = useMemo(() => lineTokens(text, lines), [text, lines]);
  const reveal = (line: number): void => {
    setGoTo(line);
    // Retries in the next frames, because rendering the line may take several frames.
    const take = (framesLeft: number): void => {
      const button = box.current?.querySelector<HTMLElement>(`[data-line="${line}"]`);
      if (button) button.focus();
      else if (framesLeft > 0) requestAnimationFrame(() => take(framesLeft - 1));
    };
    take(60);
  };
  const folds = useFolds(text, lines, found, reveal);
  const View = text.length <= WHOLE_MAX ? WholeJson : LongJson;
  return (
    <div ref={box}>
      {lines.folds.size > 1 && (
        <p className="actions">
          <button type="button" className="small" onClick={folds.foldAll}>
            {t('json.fold-all')}
          </button>
          <button type="button" className="small" onClick={folds.unfoldAll}>
            {t('json.unfold-all')}
          </button>
        </p>
      )}
      <View text={text} label={label} found={found} lines={lines} tokens={tokens} folds={folds} goTo={goTo} />
    </div>
  );
}

interface ViewProps {
  text: string;
  label: string;
  found: Found;
  lines: JsonLines;
  tokens: (line: number) => readonly JsonToken[];
  folds: Folds;
  /** Line to scroll to. */
  goTo: number | null;
}

function WholeJson({ text, label, found, lines, tokens, folds }: ViewProps): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  const { visible, folded } = folds;
  useEffect(() => void box.current?.querySelector('mark.current')?.scrollIntoView({ block: 'nearest' }), [found]);
  return (
    <pre className="payload json" ref={box} tabIndex={0} role="group" aria-label={label}>
      {visible.map((line, index) => (
        <span key={line}>
          {index > 0 && '\n'}
          <FoldButton text={text} line={line} lines={lines} folds={folds} />
          <Colored text={text} bounds={lines.bounds(line)} tokens={tokens(line)} found={found} />
          {folded.has(line) && <Cut text={text} line={line} lines={lines} />}
        </span>
      ))}
    </pre>
  );
}

function LongJson({ text, label, found, lines, tokens, folds, goTo }: ViewProps): ReactNode {
  const columns = useMedia('(max-width: 40rem)') ? NARROW_COLUMNS : COLUMNS;
  const rows = useMemo(() => rowsOfText(text, columns), [text, columns]);
  const { visible, folded, active } = folds;
  /** The rows of the lines that are not hidden, and the index among them of each line's first row. */
  const { shown, firsts } = useMemo(() => {
    const all: number[] = [];
    const starts = new Map<number, number>();
    for (const line of visible) {
      const [from, to] = lines.bounds(line);
      starts.set(line, all.length);
      for (let row = rows.rowAt(from); row <= rows.rowAt(to); row += 1) all.push(row);
    }
    return { shown: all, firsts: starts };
  }, [visible, lines, rows]);
  const match = found.matches[found.current];
  const target = match === undefined ? null : rows.rowAt(match) - rows.rowAt(lines.bounds(lines.lineAt(match))[0]);
  const matchRow = match === undefined ? undefined : firsts.get(lines.lineAt(match));
  return (
    <Rows
      count={shown.length}
      label={label}
      goTo={target === null || matchRow === undefined ? null : matchRow + target}
      alsoGoTo={goTo === null ? null : (firsts.get(goTo) ?? null)}
      kept={firsts.get(active) ?? null}
      numberOf={(index) => rows.lineOf(shown[index] ?? 0)}
      rowOf={(index) => {
        const row = shown[index] ?? 0;
        const bounds = rows.bounds(row);
        const line = lines.lineAt(bounds[0]);
        const isFirst = rows.lineOf(row) !== null;
        const isLast = bounds[1] === lines.bounds(line)[1];
        return (
          <span className="json">
            {isFirst && <FoldButton text={text} line={line} lines={lines} folds={folds} />}
            <Colored text={text} bounds={bounds} tokens={tokens(line)} found={found} />
            {isLast && folded.has(line) && <Cut text={text} line={line} lines={lines} />}
          </span>
        );
      }}
    />
  );
}

/** The rest of a folded object or array: the number of hidden lines, and its closing bracket. */
function Cut({ text, line, lines }: { text: string; line: number; lines: JsonLines }): ReactNode {
  const close = lines.folds.get(line) ?? line;
  return (
    <>
      <span className="json-cut">{t('json.cut', { count: close - line - 1 })}</span>
      {text.slice(...lines.bounds(close)).trimStart()}
    </>
  );
}

function Colored({
  text,
  bounds,
  tokens,
  found,
}: {
  text: string;
  bounds: [from: number, to: number];
  tokens: readonly JsonToken[];
  found: Found;
}): ReactNode {
  const pieces = colorPieces(piecesOf(text, bounds, found.matches, found.length), bounds[0], tokens);
  return pieces.map(({ text: part, match, kind }, index) => {
    const className = kind === null ? undefined : `json-${kind}`;
    if (match === null)
      return kind === null ? (
        part
      ) : (
        <span key={index} className={className}>
          {part}
        </span>
      );
    return (
      <mark key={index} className={match === found.current ? 'current' : undefined}>
        {part}
      </mark>
    );
  });
}
