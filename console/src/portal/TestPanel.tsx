import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { portalApi } from '../api/portal';
import { FaultLine } from '../kit/form/FaultLine';
import { word } from '../kit/messages/t';
import { preferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { usePortal } from './context';
import { type Endpoint, useEventTypes } from './portal-queries';
import { p } from './texts';

/** Form that sends a test event to the endpoint, and shows the endpoint's response. */
export function TestPanel({ endpoint: { id } }: { endpoint: Endpoint }): ReactNode {
  const { app } = usePortal();
  const queries = useQueryClient();
  const { data: types = [] } = useEventTypes();
  const [type, setType] = useState('');
  const [sent, setSent] = useState<Schemas['TestSent'] | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useId();
  const send = (): void => {
    setBusy(true);
    setFault(null);
    setSent(null);
    answered(
      portalApi.POST('/v1/app/{app}/endpoints/{endpoint}/test', {
        params: { path: { app, endpoint: id } },
        body: (type === '' ? {} : { event_type: type }) as never,
      }),
    )
      .then((said) => {
        setSent(said);
        return queries.invalidateQueries({ queryKey: ['deliveries'] });
      })
      .catch(setFault)
      .finally(() => setBusy(false));
  };
  return (
    <div className="panel">
      <h3>{p('test')}</h3>
      <div className="actions">
        <label htmlFor={field} className="offscreen">
          {p('test.type')}
        </label>
        <select id={field} value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">posthorn.test</option>
          {types.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" onClick={send} disabled={isBusy}>
          {p('test.send')}
        </button>
      </div>
      <p role="status">{sent !== null && resultOf(sent)}</p>
      {sent?.attempt?.response_excerpt && <pre>{sent.attempt.response_excerpt}</pre>}
      <FaultLine fault={fault} />
    </div>
  );
}

function resultOf({ attempt }: Schemas['TestSent']): string {
  if (attempt === null) return p('test.waits');
  if (attempt.status === null) return p('test.failed', { answer: word('error', attempt.error ?? '') });
  return p('test.sent', {
    status: String(attempt.status),
    duration: formatDuration(attempt.duration_ms, preferences().language),
  });
}
