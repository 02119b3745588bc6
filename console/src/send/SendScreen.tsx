import './send.css';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { Result } from './Result';
import { type Kind, kindOf, KINDS, NEW_EVENT, payloadFaultOf, type SendDraft } from './send-draft';
import { send, useEventTypeNames, useExample } from './send-queries';
import { TargetField } from './TargetField';

/** Page that sends an event to a destination, an application, a URL or an inbound endpoint, and shows the response. */
export function SendScreen(): ReactNode {
  const { to = '' } = useSearch({ from: '/$env/send' });
  const { can } = useSigned();
  return (
    <div className="page">
      <title>{`${t('send.title')} · Posthorn`}</title>
      <h1>{t('send.title')}</h1>
      {can('write') ? <SendForm key={to} to={to} /> : <p>{t('needs-write')}</p>}
    </div>
  );
}

function SendForm({ to }: { to: string }): ReactNode {
  const { api } = useSigned();
  const [draft, setDraft] = useState<SendDraft>(() =>
    to === '' ? NEW_EVENT : { ...NEW_EVENT, ...ofKind(kindOf(to)), target: to },
  );
  const set = (changes: Partial<SendDraft>): void => setDraft((now) => ({ ...now, ...changes }));
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => send(api, draft) });
  const fault = payloadFaultOf(draft, t('filter-editor.object'));
  const isComplete = draft.target.trim() !== '' && (draft.kind === 'endpoint' || draft.eventType.trim() !== '');
  const submit = (): void => {
    if (isComplete && fault === null && !isPending) mutate();
  };
  return (
    <div className="split even">
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label>
          {t('send.kind')}
          <select value={draft.kind} onChange={({ target }) => set({ ...ofKind(target.value as Kind), target: '' })}>
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t(`send.kind.${kind}`)}
              </option>
            ))}
          </select>
        </label>
        <TargetField key={draft.kind} kind={draft.kind} value={draft.target} onChange={(target) => set({ target })} />
        {draft.kind !== 'endpoint' && <EventType draft={draft} onChange={set} />}
        <CodeField
          label={t(draft.kind === 'endpoint' ? 'send.body' : 'send.payload')}
          value={draft.payload}
          rows={14}
          fault={fault}
          onChange={(payload) => set({ payload })}
          onRun={submit}
          runNote={t('send.run')}
        />
        {draft.kind === 'endpoint' && <p className="quiet">{t('send.body-hint')}</p>}
        <FaultLine fault={error} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isPending || !isComplete || fault !== null}>
            {t('send.send')}
          </button>
        </p>
      </form>
      <Result accepted={data ?? null} />
    </div>
  );
}

/**
 * Returns the fields of the draft that depend on the kind of the target. An empty payload stands for the provider's
 * sample request.
 */
function ofKind(kind: Kind): Pick<SendDraft, 'kind' | 'payload'> {
  return { kind, payload: kind === 'endpoint' ? '' : NEW_EVENT.payload };
}

function EventType({
  draft: { eventType },
  onChange,
}: {
  draft: SendDraft;
  onChange: (changes: Partial<SendDraft>) => void;
}): ReactNode {
  const names = useEventTypeNames();
  const example = useExample(eventType.trim());
  return (
    <div className="fields">
      <label className="grow">
        {t('column.type')}
        <input
          required
          list="send-types"
          maxLength={256}
          pattern="[A-Za-z0-9._:\/\-]+"
          value={eventType}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => onChange({ eventType: event.target.value })}
        />
      </label>
      <datalist id="send-types">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {example !== undefined && (
        <button type="button" onClick={() => onChange({ payload: writeJson(example) })}>
          {t('send.example')}
        </button>
      )}
    </div>
  );
}
