import './code-field.css';
import { type ReactNode, type Ref, type RefObject, useId, useImperativeHandle, useMemo, useRef, useState } from 'react';
import { CodeLayer } from '../code/CodeLayer';
import type { CodeCompletion } from '../code/completion';
import { Suggestions } from '../code/Suggestions';
import { insertAtCaret, placeBelowCaret, selectLine } from '../code/text-area';
import { type CodeLanguage, COLOURED_LENGTH_MAX, tokenize } from '../code/tokens';
import { useCodeKeys } from '../code/use-code-keys';
import { useCompletion } from '../code/use-completion';
import { useDrawnLines } from '../code/use-drawn-lines';
import type { JsonFault } from '../json/read-json';
import { t } from '../messages/t';
import { CodeNotes } from './CodeNotes';
import { describeJsonFault } from './describe-json-fault';

/** Functions of a `CodeField` for other parts of the screen. */
export interface CodeFieldHandle {
  /** Inserts a text at the caret, as a string. Inside of a string, replaces the string's content. */
  insert: (text: string) => void;
}

/** Props of `CodeField`. */
interface CodeFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  language?: CodeLanguage;
  rows?: number;
  /** The error, and its line if known. */
  fault?: JsonFault | null;
  /** Called on `Ctrl Enter`. */
  onRun?: () => void;
  /** Describes the effect of `Ctrl Enter`. */
  runNote?: string;
  isReadOnly?: boolean;
  /** Texts that complete JSON. */
  completions?: readonly CodeCompletion[];
  ref?: Ref<CodeFieldHandle>;
}

const NO_COMPLETIONS: readonly CodeCompletion[] = [];

/**
 * Editor for code or JSON with colors, line numbers, matching brackets, completion, a marked error line, and Tab for
 * indentation. After Escape, Tab moves the focus again, so that keyboard users can leave the field.
 */
export function CodeField(props: CodeFieldProps): ReactNode {
  const { label, value, rows = 12, fault = null, onRun, isReadOnly = false, completions = NO_COMPLETIONS, ref } = props;
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const drawn = useDrawnLines(field, rows);
  const completion = useCompletion(field, completions);
  const { open } = completion;
  useImperativeHandle(ref, () => ({ insert: (text) => insertAtCaret(field.current, text) }), []);
  return (
    <div className="code-field">
      <label htmlFor={id}>{label}</label>
      <div className="code-frame">
        <div className={fault === null ? 'code-box' : 'code-box faulty'}>
          <LineNumbers ref={drawn.numbers} count={value.split('\n').length} rows={rows} faulty={fault?.line ?? null} />
          <CodeArea {...props} id={id} field={field} drawn={drawn} completion={completion} />
        </div>
        {open !== null && (
          <Suggestions
            id={`${id}-list`}
            completions={open.completions}
            chosen={open.chosen}
            style={placeBelowCaret(field.current, open.place.from)}
            onPick={completion.accept}
          />
        )}
      </div>
      <CodeNotes
        id={`${id}-hint`}
        fault={fault}
        canEdit={!isReadOnly}
        runNote={onRun === undefined ? null : (props.runNote ?? t('code.run'))}
        canComplete={completions.length > 0}
        found={open?.completions.length ?? null}
        onGo={(line) => selectLine(field.current, line)}
      />
    </div>
  );
}

interface CodeAreaProps extends CodeFieldProps {
  id: string;
  field: RefObject<HTMLTextAreaElement | null>;
  drawn: ReturnType<typeof useDrawnLines>;
  completion: ReturnType<typeof useCompletion>;
}

function CodeArea({
  id,
  field,
  drawn: { layer, first, count, scroll },
  completion,
  value,
  onChange,
  language = 'json',
  rows = 12,
  fault = null,
  onRun,
  isReadOnly = false,
  completions = NO_COMPLETIONS,
}: CodeAreaProps): ReactNode {
  const [caret, setCaret] = useState<number | null>(null);
  const tokens = useMemo(() => tokenize(value, language), [value, language]);
  const keys = useCodeKeys({ isReadOnly, onRun, completion });
  const isColoured = value.length <= COLOURED_LENGTH_MAX;
  const { open } = completion;
  const line = fault?.line ?? null;
  return (
    <div className="code-area">
      {isColoured && (
        <CodeLayer
          ref={layer}
          text={value}
          tokens={tokens}
          caret={caret}
          first={first}
          count={count}
          fault={
            fault === null || line === null ? null : { line, message: describeJsonFault({ ...fault, line: null }) }
          }
        />
      )}
      <textarea
        id={id}
        ref={field}
        className={isColoured ? 'coloured' : undefined}
        rows={rows}
        value={value}
        readOnly={isReadOnly}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        wrap="off"
        aria-invalid={fault !== null}
        aria-describedby={`${id}-hint`}
        aria-autocomplete={completions.length > 0 ? 'list' : undefined}
        aria-controls={open === null ? undefined : `${id}-list`}
        aria-activedescendant={open === null ? undefined : `${id}-list-${open.chosen}`}
        onChange={(event) => {
          onChange(event.target.value);
          completion.suggest(true);
        }}
        onKeyDown={keys.press}
        onFocus={keys.enter}
        onBlur={() => {
          setCaret(null);
          completion.close();
        }}
        onSelect={({ currentTarget: { selectionStart, selectionEnd } }) =>
          setCaret(selectionStart === selectionEnd ? selectionStart : null)
        }
        onScroll={scroll}
        onWheel={completion.close}
      />
    </div>
  );
}

function LineNumbers({
  count,
  rows,
  faulty,
  ref,
}: {
  count: number;
  rows: number;
  faulty: number | null;
  ref: Ref<HTMLDivElement>;
}): ReactNode {
  return (
    <div className="code-lines" aria-hidden="true" ref={ref} style={{ height: `calc(${rows} * 1.5em + 1rem)` }}>
      {Array.from({ length: count }, (_, at) => (at + 1 === faulty ? <b key={at}>{`▸${at + 1}\n`}</b> : `${at + 1}\n`))}
    </div>
  );
}
