import type { ReactNode } from 'react';
import { t } from '../messages/t';
import type { JsonLines } from './json-lines';
import type { Folds } from './use-folds';

/**
 * Button that folds the object or array that begins on a line. CSS draws the button's arrow, so that copied text does
 * not contain it.
 */
export function FoldButton({
  text,
  line,
  lines,
  folds: { folded, active, toggle, press },
}: {
  text: string;
  line: number;
  lines: JsonLines;
  folds: Folds;
}): ReactNode {
  const close = lines.folds.get(line);
  if (close === undefined) return null;
  const isArray = text[lines.bounds(line)[1] - 1] === '[';
  return (
    <button
      type="button"
      className="json-fold"
      data-line={line}
      tabIndex={line === active ? 0 : -1}
      aria-expanded={!folded.has(line)}
      aria-label={t(isArray ? 'json.array' : 'json.object', { from: line + 1, to: close + 1 })}
      onClick={() => toggle(line)}
      onKeyDown={(event) => press(event, line)}
    />
  );
}
