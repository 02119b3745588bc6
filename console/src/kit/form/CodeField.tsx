import './code-field.css';
import { type ReactNode, type Ref, useId, useImperativeHandle, useRef, useState } from 'react';
import type { CodeCompletion } from '../code/completion';
import type { CodeLanguage } from '../code/languages';
import { insertAtCaret, selectLine } from '../code/text-area';
import { useEditor } from '../code/use-editor';
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
  /** Maximum height in lines. The field grows with its text. */
  rows?: number;
  /** The error, and its line if known. */
  fault?: JsonFault | null;
  /** Called on `Ctrl+Enter`. */
  onRun?: () => void;
  /** Describes the effect of `Ctrl+Enter`. */
  runNote?: string;
  isReadOnly?: boolean;
  /** Texts that complete JSON, expressions of code, or tags of a template. */
  completions?: readonly CodeCompletion[];
  ref?: Ref<CodeFieldHandle>;
}

const ROWS_MIN = 5;
const NO_COMPLETIONS: readonly CodeCompletion[] = [];

/**
 * Editor for code, JSON or templates with colors, line numbers, folding, matching brackets, completion, a marked error
 * line, and Tab for indentation. After Escape, Tab moves the focus again, so that keyboard users can leave the field. A
 * text area of the same size takes its place while the editor loads, and if it cannot be loaded.
 */
export function CodeField(props: CodeFieldProps): ReactNode {
  const { label, value, onChange, language = 'json', rows = 12, fault = null, onRun, isReadOnly = false, ref } = props;
  const { completions = NO_COMPLETIONS } = props;
  const id = useId();
  const shownRows = Math.min(rows, Math.max(value.split('\n').length + 1, ROWS_MIN));
  const ids = { id, labelId: `${id}-label`, notesId: `${id}-hint` };
  const field = useRef<HTMLTextAreaElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const [found, setFound] = useState<number | null>(null);
  const [isComposing, setComposing] = useState(false);
  const editor = useEditor(
    {
      ...ids,
      value,
      language,
      isReadOnly,
      fault: fault && { line: fault.line, message: describeJsonFault({ ...fault, line: null }) },
      completions,
      onChange,
      onRun,
      onFound: setFound,
    },
    host,
    field,
    isComposing,
  );
  useImperativeHandle(
    ref,
    () => ({ insert: (text) => (editor === null ? insertAtCaret(field.current, text) : editor.insert(text)) }),
    [editor],
  );
  return (
    <div className="code-field">
      <label id={ids.labelId} htmlFor={id} onClick={() => editor?.focus()}>
        {label}
      </label>
      <div
        className={`code-box ${language}${fault === null ? '' : ' faulty'}`}
        style={{ height: `calc(${shownRows} * 1.5em + 1rem + 2px)` }}
      >
        <div ref={host} className="code-host" />
        {editor === null && (
          <textarea
            id={id}
            ref={field}
            value={value}
            readOnly={isReadOnly}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            wrap="off"
            aria-invalid={fault !== null}
            aria-describedby={ids.notesId}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onRun?.();
            }}
            onCompositionStart={() => setComposing(true)}
            onCompositionEnd={() => setComposing(false)}
          />
        )}
      </div>
      <CodeNotes
        id={ids.notesId}
        fault={fault}
        canEdit={!isReadOnly}
        hasKeys={editor !== null}
        runNote={onRun === undefined ? null : (props.runNote ?? t('code.run'))}
        canComplete={completions.length > 0}
        found={found}
        onGo={(line) => (editor === null ? selectLine(field.current, line) : editor.selectLine(line))}
      />
    </div>
  );
}
