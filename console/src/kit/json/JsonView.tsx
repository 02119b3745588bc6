import './json.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../messages/t';
import { piecesOf, rowsOfText } from '../text/text-rows';
import { COLUMNS, type Found, NARROW_COLUMNS, Rows, WHOLE_MAX } from '../text/TextView';
import { PHONE, useMedia } from '../use-media';
import { FoldButton } from './FoldButton';
import { type JsonLines, linesOfJson, visibleLines } from './json-lines';
import { colorPieces, type JsonToken, lineTokens } from './json-tokens';
import { shownRows } from './shown-rows';
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
    <div ref={box} className="json-view">
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
  const { folded } = folds;
  const visible = useMemo(() => visibleLines(lines, folded), [lines, folded]);
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
  const columns = useMedia(PHONE) ? NARROW_COLUMNS : COLUMNS;
  const rows = useMemo(() => rowsOfText(text, columns), [text, columns]);
  const { folded, active } = folds;
  const shown = useMemo(() => shownRows(rows, lines, folded), [rows, lines, folded]);
  const match = found.matches[found.current];
  const indexOfLine = (line: number): number => shown.indexOf(rows.rowAt(lines.bounds(line)[0]));
  return (
    <Rows
      count={shown.count}
      label={label}
      goTo={match === undefined ? null : shown.indexOf(rows.rowAt(match))}
      alsoGoTo={goTo === null ? null : indexOfLine(goTo)}
      kept={indexOfLine(active)}
      numberOf={(index) => rows.lineOf(shown.at(index))}
      rowOf={(index) => {
        const row = shown.at(index);
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

/** Text in place of the folded lines: their number, and the closing bracket. */
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
