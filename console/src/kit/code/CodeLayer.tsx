import { type ReactNode, type Ref, useMemo } from 'react';
import { bracketMarks, pairBrackets } from './brackets';
import type { Token } from './token';
import { lineStartsOf, piecesOf } from './tokens';

/** Props of `CodeLayer`. */
interface CodeLayerProps {
  text: string;
  tokens: readonly Token[];
  /** Position of the caret. Null if the field has no focus, or if text is selected. */
  caret: number | null;
  /** First drawn line and number of drawn lines, starting at 0. Other lines are outside the visible part. */
  first: number;
  count: number;
  /** Line with an error, starting at 1, and the error. */
  fault: { line: number; message: string } | null;
  ref: Ref<HTMLDivElement>;
}

/**
 * Colored text behind the transparent text of a text area. Assistive technology reads only the text area. Draws only
 * the lines near the visible part, because the text can have thousands of lines.
 */
export function CodeLayer({ text, tokens, caret, first, count, fault, ref }: CodeLayerProps): ReactNode {
  const starts = useMemo(() => lineStartsOf(text), [text]);
  const brackets = useMemo(() => pairBrackets(text, tokens), [text, tokens]);
  const marks = bracketMarks(brackets, caret);
  const lines = piecesOf(text, tokens, { from: first, to: first + count, starts }, marks);
  return (
    <div className="code-layer" aria-hidden="true">
      <div className="code-text" ref={ref}>
        <div style={{ paddingTop: `${first * 1.5}em` }}>
          {lines.map((pieces, index) => {
            const isFaulty = fault?.line === first + index + 1;
            return (
              // CSS shows the message from `data-fault`. As text, the message would be on the page twice.
              <div
                key={index}
                className={isFaulty ? 'code-line faulty' : 'code-line'}
                data-fault={isFaulty ? fault.message : undefined}
              >
                {pieces.map(({ text: piece, kind, mark }, at) =>
                  kind === 'plain' ? (
                    piece
                  ) : (
                    <span key={at} className={mark === undefined ? `code-${kind}` : `code-${kind} ${mark}`}>
                      {piece}
                    </span>
                  ),
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
