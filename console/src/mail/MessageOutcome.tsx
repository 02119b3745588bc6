import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import type { MessageDetail } from './mail-queries';

/** Facts about the outcome of a message: its deliveries, the copies for forward addresses, and the automatic reply. */
export function MessageOutcome({ message }: { message: MessageDetail }): ReactNode {
  const { environment: env } = useSigned();
  const { status, forwards, auto_reply: reply, in_reply_to_email_id: origin } = message;
  return (
    <>
      {status !== 'received' && status !== 'quarantined' && (
        <div>
          <dt>{t('message.delivery')}</dt>
          <dd>{status === 'ignored' ? t('message.stored-only') : <Status of={status} />}</dd>
        </div>
      )}
      {forwards.length > 0 && (
        <div>
          <dt>{t('alias.forwards')}</dt>
          <dd>
            {forwards.map(({ address, status: state, detail, email_id: id }) => (
              <div key={address}>
                <Addresses of={[address]} /> <Status of={state} kind={state === 'pending' ? 'forward' : 'status'} />
                {id !== null && (
                  <>
                    {' '}
                    <Link
                      to="/$env/emails/$id"
                      params={{ env, id }}
                      preload={false}
                      aria-label={`${t('mail.email')}: ${address}`}
                    >
                      {t('mail.email')}
                    </Link>
                  </>
                )}
                {detail !== null && <div className="quiet">{detail}</div>}
              </div>
            ))}
          </dd>
        </div>
      )}
      {reply !== null && (
        <div>
          <dt>{t('alias.reply')}</dt>
          <dd>
            {reply.email_id === null ? (
              <span>{reply.detail ?? t('message.no-reply')}</span>
            ) : (
              <Link to="/$env/emails/$id" params={{ env, id: reply.email_id }} preload={false}>
                {t('message.reply-email')}
              </Link>
            )}
          </dd>
        </div>
      )}
      {origin !== null && (
        <div>
          <dt>{t('message.in-reply-to')}</dt>
          <dd>
            <Link to="/$env/emails/$id" params={{ env, id: origin }} preload={false}>
              {t('message.sent-email')}
            </Link>
          </dd>
        </div>
      )}
    </>
  );
}
