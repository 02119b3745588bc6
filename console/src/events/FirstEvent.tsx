import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SERVICE } from '../api/client';
import { sectionReference } from '../api/reference';
import { CopyButton } from '../kit/CopyButton';
import { EmptyState } from '../kit/empty/EmptyState';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Offers to send the first event, on a page or with curl. Shown in an environment without events. */
export function FirstEvent(): ReactNode {
  const { can, environment: env } = useSigned();
  const navigate = useNavigate();
  const command = `curl -X POST ${SERVICE}v1/send \\
  -H 'Authorization: Bearer ek_${env}_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"destination": "https://example.com/webhooks", "event_type": "invoice.paid", "payload": {"amount": 4200}}'`;
  return (
    <>
      <EmptyState
        icon="events"
        title={t('first.title')}
        action={
          can('write')
            ? {
                label: t('send.title'),
                onSelect: () => void navigate({ to: '/$env/send', params: { env }, search: {} }),
              }
            : undefined
        }
        docs={{ label: t('docs.api'), href: sectionReference('Events') }}
      >
        {t('first.text')}
      </EmptyState>
      {can('write') && (
        <section aria-labelledby="first-curl">
          <h2 id="first-curl">{t('first.curl')}</h2>
          <CopyButton text={command} label={t('copy')} />
          <pre tabIndex={0}>{command}</pre>
        </section>
      )}
    </>
  );
}
