import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { formatDuration } from '../kit/time/format';
import { RelativeTime } from '../kit/time/RelativeTime';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import { type EmailDetail, useSuppressions } from './mail-queries';

/** States of a recipient after which the address may be suppressed. */
const SUPPRESSING: ReadonlySet<string> = new Set(['bounced', 'complained', 'suppressed']);

/** State of an email for each recipient, and the attempts to deliver it. */
export function EmailTrack({ email }: { email: EmailDetail }): ReactNode {
  return (
    <>
      <section aria-labelledby="recipients">
        <h2 id="recipients">{t('email.recipients')}</h2>
        <ul className="mail-track">
          {email.recipients.map((recipient, index) => (
            <Recipient key={recipient.address + index} recipient={recipient} email={email} />
          ))}
        </ul>
      </section>
      <section>
        <h2>{t('attempts')}</h2>
        {email.attempts.length === 0 ? (
          <p className="quiet">{t('attempts.none')}</p>
        ) : (
          <Attempts attempts={email.attempts} />
        )}
      </section>
    </>
  );
}

function Recipient({
  recipient: { address, status, at, detail },
  email,
}: {
  recipient: EmailDetail['recipients'][number];
  email: EmailDetail;
}): ReactNode {
  const facts = email.timeline.filter(({ recipient }) => recipient === address);
  return (
    <li>
      <p className="who">
        <strong>{address === '' ? t('mail.erased-address') : <Addresses of={[address]} />}</strong>
        <Status of={status} />
        <span className="quiet">
          <Time at={at} />
        </span>
        {SUPPRESSING.has(status) && address !== '' && <SuppressionLink address={address} />}
      </p>
      {detail !== null && facts.at(-1)?.detail !== detail && <p className="quiet">{detail}</p>}
      {facts.length > 0 && (
        <ol className="mail-line" aria-label={t('email.timeline')}>
          {facts.map(({ type, subtype, at: when, detail: said }, index) => (
            <li key={index}>
              {word('fact-type', type)}
              {subtype !== null && (
                <>
                  {' '}
                  <code>{subtype}</code>
                </>
              )}{' '}
              <span className="quiet">
                <Time at={when} />
              </span>
              {said !== null && <div className="quiet">{said}</div>}
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

/** Link to the suppression of an address, if there is one. */
function SuppressionLink({ address }: { address: string }): ReactNode {
  const { environment: env } = useSigned();
  const { rows } = useSuppressions({ email: address });
  if (rows.length === 0) return null;
  return (
    <Link to="/$env/suppressions" params={{ env }} search={{ email: address }}>
      {t('email.suppression')}
    </Link>
  );
}

function Attempts({ attempts }: { attempts: EmailDetail['attempts'] }): ReactNode {
  const { language } = usePreferences();
  const columns: Column<EmailDetail['attempts'][number]>[] = [
    { id: 'number', label: t('email.attempt'), cell: ({ number }) => number },
    { id: 'code', label: t('email.code'), cell: ({ status }) => codeWord(status) },
    { id: 'said', label: t('attempt.answer'), cell: ({ response_excerpt: said }) => said ?? '–', wraps: true },
    { id: 'at', label: t('email.when'), cell: ({ at }) => <RelativeTime at={at} /> },
    {
      id: 'took',
      label: t('email.took'),
      cell: ({ duration_ms: ms }) => formatDuration(ms, language),
      isNumeric: true,
    },
  ];
  return (
    <Table
      id="email-attempts"
      label={t('attempts')}
      rows={attempts}
      columns={columns}
      keyOf={({ number }) => String(number)}
    />
  );
}

/** Shows the meaning of the first digit of an SMTP reply code (RFC 5321, section 4.2.1). */
function codeWord(status: number | null): ReactNode {
  const [sign, tone, key] =
    status === null
      ? (['✕', 'bad', 'smtp.none'] as const)
      : status < 400
        ? (['✓', 'good', 'smtp.ok'] as const)
        : status < 500
          ? (['↻', 'busy', 'smtp.later'] as const)
          : (['✕', 'bad', 'smtp.no'] as const);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{sign}</span> {status ?? ''} {t(key)}
    </span>
  );
}
