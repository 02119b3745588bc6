import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { Step, type StepsProps } from './Step';

/** Getting-started steps as buttons, for which no terminal is needed. */
export function ClickSteps({ destination, event }: StepsProps): ReactNode {
  const { api, environment: env, can } = useSigned();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      answered(
        api.POST('/v1/destinations', {
          body: { name: t('first-steps.title'), type: 'pull', timeout_ms: null, asymmetric: null },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['first-destination', env] }),
  });
  const id = destination?.id ?? create.data?.id;
  const send = useMutation({
    mutationFn: () =>
      answered(
        api.POST('/v1/send', {
          body: { destination: id ?? '', event_type: 'invoice.paid', payload: { id: 'in_1', amount: 4200 } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['first-event', env] }),
  });
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return (
    <ol>
      <Step
        title={t('first-steps.destination')}
        text={t('first-steps.destination-text')}
        isDone={id !== undefined || event !== null}
      >
        {id === undefined && event === null && (
          <p className="actions">
            <button type="button" className="primary" disabled={create.isPending} onClick={() => create.mutate()}>
              {t('first-steps.create')}
            </button>
          </p>
        )}
        <FaultLine fault={create.error} />
      </Step>
      <Step title={t('first-steps.event')} text={t('first-steps.event-text')} isDone={event !== null}>
        {id !== undefined && event === null && (
          <p className="actions">
            <button type="button" className="primary" disabled={send.isPending} onClick={() => send.mutate()}>
              {t('first-steps.send')}
            </button>
            <Link to="/$env/send" params={{ env }} search={{ to: id }} className="button">
              {t('first-steps.compose')}
            </Link>
          </p>
        )}
        <FaultLine fault={send.error} />
        {event !== null && (
          <p>
            <Link to="/$env/events/$id" params={{ env, id: event.id }}>
              {t('first-steps.look')}
            </Link>
          </p>
        )}
      </Step>
    </ol>
  );
}
