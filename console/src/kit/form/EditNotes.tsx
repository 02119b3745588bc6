import { type ReactNode, useState } from 'react';
import { Confirm } from '../dialog/Confirm';
import { t } from '../messages/t';
import { fitsLines, fromNoteLines, toNoteLines } from './note-lines';

/** Editor of metadata, with one line per entry. */
export function EditNotes({
  name,
  notes,
  onSave,
}: {
  /** Name of the resource, for the accessible name of the button and for the dialog. */
  name: string;
  notes: Readonly<Record<string, string>>;
  onSave: (notes: Record<string, string>) => Promise<unknown>;
}): ReactNode {
  const [text, setText] = useState<string | null>(null);
  const read = fromNoteLines(text ?? '');
  if (!fitsLines(notes)) return null;
  const label = `${t('notes')}: ${name}`;
  return (
    <>
      <button type="button" aria-label={label} onClick={() => setText(toNoteLines(notes))}>
        {t('notes')}
      </button>
      {text !== null && (
        <Confirm
          title={label}
          action={t('save')}
          isOff={typeof read === 'number' || text === toNoteLines(notes)}
          onConfirm={async () => {
            if (typeof read !== 'number') await onSave(read);
          }}
          onClose={() => setText(null)}
        >
          <p>{t('notes.text')}</p>
          <p>
            <label>
              {t('notes.lines')}
              <textarea
                rows={6}
                value={text}
                spellCheck={false}
                placeholder="plan: pro"
                onChange={(event) => setText(event.target.value)}
              />
            </label>
          </p>
          <p role="status">{typeof read === 'number' && t('notes.fault', { line: read })}</p>
        </Confirm>
      )}
    </>
  );
}

/** Shows metadata, if there is any. */
export function Notes({ of }: { of: Readonly<Record<string, string>> }): ReactNode {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <p>
      {t('notes')}:{' '}
      {entries.map(([name, value]) => (
        <span key={name} className="tag">
          <bdi>{`${name}: ${value}`}</bdi>
        </span>
      ))}
    </p>
  );
}
