import './code-field.css';
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import type { JsonFault } from '../json/read-json';
import { t } from '../messages/t';
import { describeJsonFault } from './describe-json-fault';

interface CodeFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  rows?: number;
  /** The error, and its line if known. */
  fault?: JsonFault | null;
  /** Called on `Ctrl Enter`. */
  onRun?: () => void;
  isReadOnly?: boolean;
}

/**
 * Field for code or JSON with line numbers. Marks the line with an error. Tab indents, but after Escape it moves the
 * focus, so that keyboard users can leave the field.
 */
export function CodeField({
  label,
  value,
  onChange,
  rows = 12,
  fault = null,
  onRun,
  isReadOnly = false,
}: CodeFieldProps): ReactNode {
  const lines = useRef<HTMLDivElement>(null);
  const isLeaving = useRef(false);
  const id = useId();
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && onRun !== undefined) {
      event.preventDefault();
      onRun();
    } else if (event.key === 'Escape') {
      // The first Escape does not close the dialog around the field. The second one does.
      if (!isLeaving.current) event.preventDefault();
      isLeaving.current = true;
    } else if (event.key === 'Tab' && !event.shiftKey && !isLeaving.current && !isReadOnly) {
      event.preventDefault();
      // Inserts the text as if the user had typed it, so that undo works.
      document.execCommand('insertText', false, '  ');
    } else if (event.key !== 'Shift' && event.key !== 'Tab') isLeaving.current = false;
  };
  const count = value.split('\n').length;
  return (
    <div className="code-field">
      <label htmlFor={id}>{label}</label>
      <div className={fault === null ? 'code-box' : 'code-box faulty'}>
        <div className="code-lines" aria-hidden="true" ref={lines} style={{ height: `calc(${rows} * 1.5em + 1rem)` }}>
          {Array.from({ length: count }, (_, at) =>
            at + 1 === fault?.line ? <b key={at}>{`▸${at + 1}\n`}</b> : `${at + 1}\n`,
          )}
        </div>
        <textarea
          id={id}
          rows={rows}
          value={value}
          readOnly={isReadOnly}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          wrap="off"
          aria-invalid={fault !== null}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
          onFocus={() => (isLeaving.current = false)}
          onScroll={(event) => {
            if (lines.current) lines.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <div id={`${id}-hint`}>
        {fault !== null && (
          <p className="code-fault" role="status">
            ✕ {describeJsonFault(fault)}
          </p>
        )}
        {!isReadOnly && (
          <p className="quiet code-hint">
            {t('code.hint')}
            {onRun !== undefined && ` ${t('code.run')}`}
          </p>
        )}
      </div>
    </div>
  );
}
