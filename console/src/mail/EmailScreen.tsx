import './mail.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { FaultLine } from '../kit/form/FaultLine';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import { EmailActions } from './EmailActions';
import { EmailReplies } from './EmailReplies';
import { EmailTrack } from './EmailTrack';
import { formatBytes } from './format-bytes';
import { useLeave } from './leave';
import { type EmailDetail, useEmail, useEmailContent } from './mail-queries';
import { isNamed, MailBody } from './MailBody';

const PARTS: readonly SkeletonPart[] = [
  'title',
  'text',
  ['facts', 5],
  'heading',
  ['cards', 2],
  'heading',
  ['code', 12],
];

/** One email: its state for each recipient, the delivery attempts, and its content. */
export function EmailScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/emails/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useEmail(id);
  const navigate = useNavigate();
  useLeave(() => void navigate({ to: '/$env/emails', params: { env } }));
  return (
    <div className="page">
      <title>{`${t('mail.email')} · Posthorn`}</title>
      <Crumbs to={`/${env}/emails`} label={t('nav.emails')}>
        <Link to="/$env/events/$id" params={{ env, id }} preload={false}>
          {t('mail.event')}
        </Link>
      </Crumbs>
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && <Shown key={data.id} email={data} />}
    </div>
  );
}

/** States that a captured email reaches without being sent. */
const SIMULATED: ReadonlySet<string> = new Set(['sending', 'delivered', 'bounced', 'complained']);

function Shown({ email }: { email: EmailDetail }): ReactNode {
  const { environment } = useSigned();
  const sentence =
    email.captured && SIMULATED.has(email.status)
      ? t(environment === 'test' ? 'email.captured-test' : 'email.captured')
      : word('email.why', email.status);
  return (
    <>
      <div className="heading">
        <h1>
          <bdi>{email.subject || t('mail.no-subject')}</bdi>
        </h1>
        <Status of={email.status} />
        <EmailActions email={email} />
      </div>
      {sentence !== email.status && <p className="why">{sentence}</p>}
      <Facts email={email} />
      <EmailTrack email={email} />
      <EmailReplies id={email.id} />
      <Content email={email} />
    </>
  );
}

function Facts({ email }: { email: EmailDetail }): ReactNode {
  const { environment: env } = useSigned();
  const people: [label: string, addresses: readonly string[]][] = [
    [t('mail.from'), [email.from]],
    [t('mail.to'), email.to],
    ['Cc', email.cc],
    ['Bcc', email.bcc],
    [t('mail.reply-to'), email.reply_to],
  ];
  return (
    <dl className="facts">
      {people.map(
        ([label, addresses]) =>
          addresses.some(Boolean) && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <Addresses of={addresses} />
              </dd>
            </div>
          ),
      )}
      <div>
        <dt>{t('mail.accepted')}</dt>
        <dd>
          <Time at={email.created_at} />
        </dd>
      </div>
      {email.scheduled_at !== undefined && (
        <div>
          <dt>{t('mail.scheduled')}</dt>
          <dd>
            <Time at={email.scheduled_at} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{email.id}</code> <CopyButton text={email.id} />
        </dd>
      </div>
      {email.message_id && (
        <div>
          <dt>Message-ID</dt>
          <dd>
            <code>{email.message_id}</code> <CopyButton text={email.message_id} />
          </dd>
        </div>
      )}
      {email.template !== null && (
        <div>
          <dt>{t('email.template')}</dt>
          <dd>
            <Link to="/$env/templates/$id" params={{ env, id: email.template.id }} preload={false}>
              {t('email.template-version', { version: email.template.version })}
            </Link>
          </dd>
        </div>
      )}
      {email.tags.length > 0 && (
        <div>
          <dt>{t('mail.tags')}</dt>
          <dd>
            {email.tags.map(({ name, value }) => (
              <span className="tag" key={name + value}>
                {name}: {value}
              </span>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Content({ email }: { email: EmailDetail }): ReactNode {
  const { api } = useSigned();
  const isComposed = email.size_bytes > 0 && email.erased_at === undefined;
  const { data, error, isLoading } = useEmailContent(email.id, isComposed);
  if (email.erased_at !== undefined)
    return (
      <p className="why">
        {t('mail.erased')} <Time at={email.erased_at} />
      </p>
    );
  if (!isComposed)
    return (
      <>
        <p className="empty">{t(email.status === 'scheduled' ? 'email.not-composed' : 'email.no-bytes')}</p>
        {email.attachments.length > 0 && <PlannedFiles email={email} />}
      </>
    );
  return (
    <>
      {isLoading && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && (
        <MailBody
          html={data.html}
          text={data.text}
          headers={data.header_lines}
          isTruncated={data.truncated}
          rawPath={`v1/emails/${email.id}/raw`}
          files={data.attachments.map(
            ({ filename, content_type: type, size_bytes: bytes, content_id: cid, path }, index) => ({
              name: filename,
              type,
              bytes,
              isInline: isNamed(data.html, cid),
              path: path.replace(/^\//, ''),
              link: async () => {
                const { data: links } = await answered(
                  api.GET('/v1/emails/{id}/attachments', { params: { path: { id: email.id } } }),
                );
                return links[index]?.download_url ?? '';
              },
            }),
          )}
          view={async () =>
            (await answered(api.GET('/v1/emails/{id}/view', { params: { path: { id: email.id } } }))).token
          }
        />
      )}
    </>
  );
}

/** Attachments of an email that is not composed yet. They can be downloaded once it is sent. */
function PlannedFiles({ email }: { email: EmailDetail }): ReactNode {
  const { language } = usePreferences();
  return (
    <section aria-labelledby="planned-files">
      <h2 id="planned-files">{t('mail.files')}</h2>
      <ul>
        {email.attachments.map(({ filename, content_type: type, size_bytes: bytes }, index) => (
          <li key={index}>
            <bdi>{filename}</bdi>{' '}
            <span className="quiet">
              {type}, {formatBytes(bytes, language)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
