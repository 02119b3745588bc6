import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { EndpointDetail } from './endpoint-queries';

/**
 * Button that sends a sample event of the provider to the endpoint, and shows the result. The sample is signed with the
 * endpoint's secret.
 */
export function SampleEvent({ endpoint: { id } }: { endpoint: EndpointDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => answered(api.POST('/v1/endpoints/{id}/test', { params: { path: { id } }, body: {} })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['requests', env, id] });
      await queries.invalidateQueries({ queryKey: ['newest-requests', env, id] });
    },
  });
  return (
    <section aria-labelledby="sample">
      <h2 id="sample">{t('sample')}</h2>
      <p>{t('sample.text')}</p>
      <p className="actions">
        <button type="button" disabled={isPending} onClick={() => mutate()}>
          {t('sample.send')}
        </button>
        <span role="status">
          {data && (
            <>
              {data.status < 300 ? (
                <span className="status good">
                  <span aria-hidden="true">✓</span> HTTP {data.status}
                </span>
              ) : (
                <span className="status bad">
                  <span aria-hidden="true">✕</span> HTTP {data.status}
                </span>
              )}{' '}
              {data.verified !== null && t(data.verified ? 'sample.verified' : 'sample.failed')}
            </>
          )}
        </span>
        {data?.event_id && (
          <Link
            to="/$env/endpoints/$id/requests/$request"
            params={{ env, id, request: data.event_id.replace('evt_', 'req_') }}
          >
            {t('sample.request')}
          </Link>
        )}
      </p>
      <FaultLine fault={error} />
    </section>
  );
}
