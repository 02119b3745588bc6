import './mail.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import { useLeave } from './leave';
import { type MessageDetail, useMessage } from './mail-queries';
import { isNamed, MailBody } from './MailBody';
import { messageStateOf } from './message-state';
import { MessageActions } from './MessageActions';
import { MessageOutcome } from './MessageOutcome';

const PARTS: readonly SkeletonPart[] = ['title', ['facts', 6], 'heading', ['cards', 3], 'heading', ['code', 12]];

/** Lifetime of a link to an attachment. */
const LINK_SECONDS = 3_600;
const CHECKS = ['spf', 'dkim', 'dmarc', 'arc', 'spam', 'virus'] as const;

/** One received message: authentication results, state and content. */
export function MessageScreen(): ReactNode {
  const { alias, id } = useParams({ from: '/$env/inbox/$alias/$id' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error } = useMessage(alias, id);
  useLeave(() => void navigate({ to: '/$env/inbox/$alias', params: { env, alias } }));
  return (
    <div className="page">
      <title>{`${t('message')} · Posthorn`}</title>
      <Crumbs to={`/${env}/inbox/${alias}`} label={data?.alias ?? t('nav.inbox')}>
        <Link to="/$env/events/$id" params={{ env, id }} preload={false}>
          {t('mail.event')}
        </Link>
      </Crumbs>
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && <Shown key={data.id} message={data} alias={alias} />}
    </div>
  );
}

function Shown({ message, alias }: { message: MessageDetail; alias: string }): ReactNode {
  const { api, can } = useSigned();
  const path = { alias, messageId: message.id };
  const base = `v1/aliases/${encodeURIComponent(alias)}/messages/${message.id}`;
  return (
    <>
      <div className="heading">
        <h1>
          <bdi>{message.subject || t('mail.no-subject')}</bdi>
        </h1>
        <Status of={messageStateOf(message.status)} />
        <MessageActions message={message} alias={alias} />
      </div>
      {message.status === 'quarantined' && (
        <p className="why">
          {t('message.quarantined')} {word('quarantine', message.reason ?? '')}
        </p>
      )}
      {message.parse_error !== null && <p className="why">{message.parse_error}</p>}
      {message.auto_submitted && <p className="quiet">{t('message.automatic')}</p>}
      <Facts message={message} />
      <Verdicts message={message} />
      <MailBody
        html={message.html}
        text={message.text}
        headers={message.header_lines}
        isTruncated={message.truncated}
        rawPath={`${base}/raw`}
        files={message.attachments.map(
          ({ filename, content_type: type, size_bytes: bytes, content_id: cid }, index) => ({
            name: filename,
            type,
            bytes,
            isInline: isNamed(message.html, cid),
            path: `${base}/attachments/${index}`,
            ...(can('write') && {
              link: async () => {
                const { attachments } = await answered(
                  api.POST('/v1/aliases/{alias}/messages/{messageId}/links', {
                    params: { path },
                    body: { expires_in: LINK_SECONDS },
                  }),
                );
                return attachments[index]?.url ?? '';
              },
            }),
          }),
        )}
        view={async () =>
          (await answered(api.GET('/v1/aliases/{alias}/messages/{messageId}/view', { params: { path } }))).token
        }
      />
    </>
  );
}

function Facts({ message }: { message: MessageDetail }): ReactNode {
  const people: [label: string, addresses: readonly string[]][] = [
    [t('mail.from'), [message.from]],
    [t('mail.to'), message.to],
    ['Cc', message.cc],
    [t('mail.reply-to'), message.reply_to],
    [t('message.recipients'), message.recipients],
  ];
  return (
    <dl className="facts">
      <MessageOutcome message={message} />
      {people.map(
        ([label, addresses]) =>
          addresses.some(Boolean) && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <Addresses of={addresses.slice(0, 20)} />
                {addresses.length > 20 && ` … (${addresses.length})`}
              </dd>
            </div>
          ),
      )}
      <div>
        <dt>{t('column.received')}</dt>
        <dd>
          <Time at={message.received_at} />
        </dd>
      </div>
      {message.date !== null && (
        <div>
          <dt>{t('message.date')}</dt>
          <dd>
            <Time at={message.date} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{message.id}</code> <CopyButton text={message.id} />
        </dd>
      </div>
      {message.message_id !== null && (
        <div>
          <dt>Message-ID</dt>
          <dd>
            <code>{message.message_id}</code> <CopyButton text={message.message_id} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Authentication results, each with an explanation. */
function Verdicts({ message: { verdicts } }: { message: MessageDetail }): ReactNode {
  return (
    <section aria-labelledby="verdicts">
      <h2 id="verdicts">{t('verdicts')}</h2>
      <ul className="mail-verdicts">
        {CHECKS.filter(
          (check) => !['disabled'].includes(verdicts[check]) && (check !== 'arc' || verdicts.arc !== 'none'),
        ).map((check) => (
          <li key={check}>
            <p className="name">
              <span>{t(`verdict.${check}`)}</span>
              <Status of={verdicts[check]} kind="scan" />
            </p>
            <p>
              {sentence(check, verdicts[check])}
              {check === 'dmarc' &&
                verdicts.dmarc_policy !== null &&
                ` ${t('verdict.policy', { policy: verdicts.dmarc_policy })}`}
            </p>
          </li>
        ))}
      </ul>
      {(verdicts.spam === 'disabled' || verdicts.virus === 'disabled') && (
        <p className="quiet">
          {t(
            verdicts.spam === verdicts.virus
              ? 'verdict.no-scanners'
              : verdicts.spam === 'disabled'
                ? 'verdict.no-spam'
                : 'verdict.no-virus',
          )}
        </p>
      )}
    </section>
  );
}

function sentence(check: string, result: string): string {
  const [own, any] = [word('verdict', `${check}.${result}`), word('verdict', `any.${result}`)];
  return own !== `${check}.${result}` ? own : any === `any.${result}` ? result : any;
}
