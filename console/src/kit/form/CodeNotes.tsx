import type { ReactNode } from 'react';
import type { JsonFault } from '../json/read-json';
import { t } from '../messages/t';
import { describeJsonFault } from './describe-json-fault';

/** Props of `CodeNotes`. */
interface CodeNotesProps {
  id: string;
  fault: JsonFault | null;
  canEdit: boolean;
  /** Whether the keys of the editor work. False while the editor loads. */
  hasKeys: boolean;
  /** Describes the effect of `Ctrl+Enter`. Null if it has none. */
  runNote: string | null;
  canComplete: boolean;
  /** Number of completions in the open list. Null if the list is closed. */
  found: number | null;
  onGo: (line: number) => void;
}

/** Notes below a code field: the error, with a button that moves the caret to it, and the keys of the field. */
export function CodeNotes({
  id,
  fault,
  canEdit,
  hasKeys,
  runNote,
  canComplete,
  found,
  onGo,
}: CodeNotesProps): ReactNode {
  const line = fault?.line ?? null;
  return (
    <>
      <div id={id}>
        {fault !== null && (
          <p className="code-fault" role="status">
            ✕ {describeJsonFault(fault)}
          </p>
        )}
        {canEdit && (
          <p className={hasKeys ? 'quiet code-hint' : 'quiet code-hint hidden'}>
            {t('code.hint')}
            {runNote !== null && ` ${runNote}`}
            {canComplete && ` ${t('code.complete')}`}
          </p>
        )}
      </div>
      {line !== null && (
        <p className="code-go">
          <button type="button" className="small" onClick={() => onGo(line)}>
            {t('code.go', { line })}
          </button>
        </p>
      )}
      {canComplete && (
        <span className="offscreen" role="status">
          {found !== null && t('code.found', { count: found })}
        </span>
      )}
    </>
  );
}
