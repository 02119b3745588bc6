import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { findLostNumber } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { Imported } from './event-type-queries';

const OUTCOMES = ['created', 'updated', 'archived', 'unchanged'] as const;

/** Form that imports event types from the webhooks of an OpenAPI document. Shows a preview of the changes first. */
export function ImportTypes({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [isReplacing, setReplacing] = useState(false);
  const [isEnforced, setEnforced] = useState(false);
  const [result, setResult] = useState<Imported | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const change = (what: () => void): void => {
    what();
    setResult(null);
  };
  const ask = async (isDry: boolean): Promise<void> => {
    setFault(null);
    try {
      setResult(
        await answered(
          api.POST('/v1/event-types/import/openapi', {
            body: { text, replace_all: isReplacing, dry_run: isDry, ...(isEnforced && { enforce: true }) },
          }),
        ),
      );
      if (!isDry) await queries.invalidateQueries({ queryKey: ['event-types', env] });
    } catch (error) {
      setResult(null);
      setFault(error);
    }
  };
  // Warns about the first number that JavaScript would round. This is no error, because many documents contain such
  // numbers, for example the bounds of int64. Does not check YAML.
  const lostNumber = useMemo(() => findLostNumber(text), [text]);
  const changes = result === null ? 0 : result.created.length + result.updated.length + result.archived.length;
  return (
    <Dialog title={t('event-type.import')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void ask(true);
        }}
      >
        <p>{t('import.text')}</p>
        <label>
          {t('import.file')}
          <input
            type="file"
            accept=".json,.yaml,.yml"
            onChange={(event) => void event.target.files?.[0]?.text().then((each) => change(() => setText(each)))}
          />
        </label>
        <CodeField
          label={t('import.document')}
          value={text}
          rows={10}
          fault={lostNumber}
          onChange={(value) => change(() => setText(value))}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={isEnforced}
            onChange={(event) => change(() => setEnforced(event.target.checked))}
          />{' '}
          {t('import.enforce')}
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={isReplacing}
            onChange={(event) => change(() => setReplacing(event.target.checked))}
          />{' '}
          {t('import.replace')}
        </label>
        <FaultLine fault={fault} />
        <div role="status">
          {result && (
            <p className="why">
              {t(result.dry_run ? (changes === 0 ? 'import.nothing' : 'import.would') : 'import.done')}
            </p>
          )}
          {result &&
            OUTCOMES.filter((each) => result[each].length > 0).map((each) => (
              <p key={each}>
                {t(`import.${each}`)} ({result[each].length}):{' '}
                <code>
                  {result[each].slice(0, 20).join(', ')}
                  {result[each].length > 20 && ' …'}
                </code>
              </p>
            ))}
        </div>
        <p className="actions">
          {result?.dry_run === true && changes > 0 ? (
            <button type="button" className="primary" onClick={() => void ask(false)}>
              {t('import.run')}
            </button>
          ) : (
            <button type="submit" className="primary" disabled={text.trim() === ''}>
              {t('import.try')}
            </button>
          )}
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
