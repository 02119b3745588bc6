import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { useSigned } from '../session/session';

/** Sends a test event to the destination and shows the destination's response. */
export function TestEvent({ id }: { id: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const { language } = usePreferences();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => answered(api.POST('/v1/destinations/{id}/test', { params: { path: { id } } })),
  });
  const attempt = data?.attempt;
  return (
    <section aria-labelledby="test">
      <h2 id="test">{t('test')}</h2>
      <p>
        <button type="button" disabled={isPending} onClick={() => mutate()}>
          {t('test.send')}
        </button>
      </p>
      <FaultLine fault={error} />
      <div role="status">
        {attempt && (
          <p>
            {attempt.status === null ? word('error', attempt.error ?? 'connection') : `HTTP ${attempt.status}`}{' '}
            <span className="quiet">{formatDuration(attempt.duration_ms, language)}</span>
          </p>
        )}
        {data && !attempt && <p>{t('test.waiting')}</p>}
      </div>
      {attempt?.response_excerpt && <pre tabIndex={0}>{attempt.response_excerpt}</pre>}
      {data && (
        <p>
          <Link to="/$env/events/$id" params={{ env, id: data.message_id }}>
            {t('test.event')}
          </Link>
        </p>
      )}
    </section>
  );
}
