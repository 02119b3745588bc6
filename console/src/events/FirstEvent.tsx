import type { ReactNode } from 'react';
import { SERVICE } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Instructions for sending the first event, shown in an environment without events. */
export function FirstEvent(): ReactNode {
  const { environment } = useSigned();
  const command = `curl -X POST ${SERVICE}v1/send \\
  -H 'Authorization: Bearer ek_${environment}_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"destination": "https://example.com/webhooks", "event_type": "invoice.paid", "payload": {"amount": 4200}}'`;
  return (
    <section className="empty" aria-labelledby="first-event">
      <h2 id="first-event">{t('first.title')}</h2>
      <p>{t('first.text')}</p>
      <CopyButton text={command} label={t('copy')} />
      <pre tabIndex={0}>{command}</pre>
    </section>
  );
}
