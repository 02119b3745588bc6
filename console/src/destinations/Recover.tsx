import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';

const BACK_MS = { '-1h': 3_600_000, '-1d': 86_400_000, '-7d': 604_800_000, '-30d': 2_592_000_000 } as const;
type Back = keyof typeof BACK_MS;

/** Form that creates a job for a destination's failed events, and then shows the job. */
export function Recover({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const navigate = useNavigate();
  const [back, setBack] = useState<Back>('-1d');
  const [status, setStatus] = useState<'' | 'failed' | 'dlq'>('');
  const [isWithCancelled, setWithCancelled] = useState(false);
  const recover = async (): Promise<void> => {
    const since = new Date(serviceNowMs() - BACK_MS[back]).toISOString();
    const job = await answered(
      api.POST('/v1/destinations/{id}/recover', {
        params: { path: { id } },
        body: { since, include_cancelled: isWithCancelled, ...(status !== '' && { status }) },
      }),
    );
    void navigate({ to: '/$env/jobs/$id', params: { env, id: job.id } });
  };
  return (
    <Confirm title={t('destination.recover')} action={t('destination.recover')} onConfirm={recover} onClose={onClose}>
      <p>
        {t('destination.recover-text')} <strong>{t(`environment.${env}`)}</strong>.
      </p>
      <div className="stacked">
        <label>
          {t('destination.recover-since')}
          <select value={back} onChange={(event) => setBack(event.target.value as Back)}>
            {(Object.keys(BACK_MS) as Back[]).map((each) => (
              <option key={each} value={each}>
                {t(`range.${each}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('destination.recover-status')}
          <select value={status} onChange={(event) => setStatus(event.target.value as typeof status)}>
            <option value="">{t('destination.recover-both')}</option>
            <option value="failed">{word('status', 'failed')}</option>
            <option value="dlq">{word('status', 'dlq')}</option>
          </select>
        </label>
        <label className="check-row">
          <input
            type="checkbox"
            checked={isWithCancelled}
            onChange={(event) => setWithCancelled(event.target.checked)}
          />{' '}
          {t('destination.recover-cancelled')}
        </label>
      </div>
    </Confirm>
  );
}
