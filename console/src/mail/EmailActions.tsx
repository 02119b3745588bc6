import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { TimeField } from '../kit/time/TimeField';
import { useSigned } from '../session/session';
import type { EmailDetail } from './mail-queries';
import { sendAgainOf } from './send-again';
import { ReplayEmail, SendCopy } from './SendAgain';

/** Actions on an email: send it again, move its scheduled time, or cancel it. */
export function EmailActions({ email }: { email: EmailDetail }): ReactNode {
  const { can } = useSigned();
  const [asked, setAsked] = useState<'again' | 'reschedule' | 'cancel' | null>(null);
  const again = sendAgainOf(email);
  const isScheduled = email.status === 'scheduled';
  if (again === null && !isScheduled) return null;
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const close = (): void => setAsked(null);
  return (
    <span className="actions">
      {again !== null && (
        <button type="button" className="primary" onClick={() => setAsked('again')}>
          {t('email.again')}
        </button>
      )}
      {isScheduled && (
        <>
          <button type="button" onClick={() => setAsked('reschedule')}>
            {t('email.reschedule')}
          </button>
          <button type="button" onClick={() => setAsked('cancel')}>
            {t('email.cancel')}
          </button>
        </>
      )}
      {asked === 'again' && again?.kind === 'replay' && <ReplayEmail email={email} onClose={close} />}
      {asked === 'again' && again?.kind === 'copy' && <SendCopy email={email} to={again.to} onClose={close} />}
      {asked === 'reschedule' && <Reschedule email={email} onClose={close} />}
      {asked === 'cancel' && <Cancel email={email} onClose={close} />}
    </span>
  );
}

function Reschedule({ email, onClose }: { email: EmailDetail; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [at, setAt] = useState(email.scheduled_at ?? '');
  const isChanged = useIsChanged(at);
  const isPast = at !== '' && Date.parse(at) <= serviceNowMs();
  const save = async (): Promise<void> => {
    await answered(api.PATCH('/v1/emails/{id}', { params: { path: { id: email.id } }, body: { scheduled_at: at } }));
    await queries.invalidateQueries({ queryKey: ['email', env, email.id] });
    await queries.invalidateQueries({ queryKey: ['emails', env] });
  };
  return (
    <Confirm
      title={t('email.reschedule')}
      action={t('save')}
      isOff={!isChanged || at === ''}
      onConfirm={save}
      onClose={onClose}
    >
      <p>{t('email.reschedule-text')}</p>
      <p>
        <TimeField label={t('mail.scheduled')} value={at} onChange={setAt} isRequired />
      </p>
      <p role="status">{isPast && t('email.reschedule-now')}</p>
    </Confirm>
  );
}

function Cancel({ email, onClose }: { email: EmailDetail; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const cancel = async (): Promise<void> => {
    await answered(api.DELETE('/v1/emails/{id}', { params: { path: { id: email.id } } }));
    await navigate({ to: '/$env/emails', params: { env } });
    queries.removeQueries({ queryKey: ['email', env, email.id] });
    await queries.invalidateQueries({ queryKey: ['emails', env] });
  };
  return (
    <Confirm title={t('email.cancel')} action={t('email.cancel')} isDangerous onConfirm={cancel} onClose={onClose}>
      <p>{t('email.cancel-text')}</p>
    </Confirm>
  );
}
