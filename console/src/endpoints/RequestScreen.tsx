import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { download } from '../kit/copy';
import { CopyButton } from '../kit/CopyButton';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { FormattedSwitch } from '../kit/form/FormattedSwitch';
import { formatJson } from '../kit/json/format-json';
import { JsonView } from '../kit/json/JsonView';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { Status } from '../kit/status/Status';
import { NOTHING_FOUND, TextView } from '../kit/text/TextView';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { CodeLogs } from './CodeLogs';
import { type RequestDetail, useRequest } from './endpoint-queries';
import { bytesOf } from './request-body';
import { describeNote } from './request-note';

/** Longer bodies are shown unformatted. */
const FORMATTED_MAX = 200_000;

/** One raw request: its content as received, the response, and the result with its reason. */
export function RequestScreen(): ReactNode {
  const { id, request } = useParams({ from: '/$env/endpoints/$id/requests/$request' });
  const { environment: env, can } = useSigned();
  const { data, error, isPending } = useRequest(id, request);
  return (
    <>
      <p>
        <Link to="/$env/endpoints/$id/requests" params={{ env, id }} search={{}}>
          ← {t('endpoint.requests')}
        </Link>
      </p>
      {isPending && <Skeleton parts={['title', 'text', ['facts', 6], 'heading', ['code', 8]]} />}
      <FaultLine fault={error} />
      {data && (
        <>
          <div className="heading">
            <h2 className="request-title">
              <code>
                {data.method} {data.path || '/'}
              </code>
            </h2>
            <Status of={data.status} />
            {can('write') && <Actions id={id} of={data} />}
          </div>
          <p className="why">
            {describeNote(data.note) ?? t(`became.${data.status as 'routed'}`)}
            {data.status === 'quarantined' && data.released_at === null && ` ${t('request.quarantined-next')}`}
          </p>
          <Facts of={data} />
          <Headers of={data} />
          <Body of={data} />
          {data.logs !== null && <CodeLogs title={t('code-logs.stored')} of={data.logs} />}
          <Answer of={data} />
        </>
      )}
    </>
  );
}

function Facts({ of }: { of: RequestDetail }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <dl className="facts">
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{of.id}</code> <CopyButton text={of.id} />
        </dd>
      </div>
      {of.status !== 'too_large' && (
        <div>
          <dt>{t('fact.event')}</dt>
          <dd>
            <PathLink to={`/${env}/events/${of.event_id}`}>
              <code>{of.event_id}</code>
            </PathLink>
          </dd>
        </div>
      )}
      <div>
        <dt>{t('column.received')}</dt>
        <dd>
          <Time at={of.received_at} />
        </dd>
      </div>
      <div>
        <dt>{t('request.from')}</dt>
        <dd>
          <code>{of.ip}</code>
        </dd>
      </div>
      <div>
        <dt>URL</dt>
        <dd>
          <code className="clamped" title={of.url}>
            {of.url}
          </code>
        </dd>
      </div>
      <div>
        <dt>{t('request.signature')}</dt>
        <dd>
          {of.verified === null ? (
            t('verification.none')
          ) : (
            <Status of={of.verified ? 'verified' : 'failed'} kind="signature" />
          )}
        </dd>
      </div>
      {of.dedupe_id !== null && (
        <div>
          <dt>{t('request.dedupe')}</dt>
          <dd>
            <code>{of.dedupe_id}</code>
          </dd>
        </div>
      )}
      {of.replay_of !== null && (
        <div>
          <dt>{t('request.replay-of')}</dt>
          <dd>
            <code>{of.replay_of}</code>
          </dd>
        </div>
      )}
      {of.released_at !== null && (
        <div>
          <dt>{t('request.released')}</dt>
          <dd>
            <Time at={of.released_at} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Headers({ of }: { of: RequestDetail }): ReactNode {
  const text = of.headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  return (
    <section aria-labelledby="headers">
      <h3 id="headers">
        {t('request.headers')} <CopyButton text={text} label={t('copy')} />
      </h3>
      <table className="plain headers">
        <thead>
          <tr>
            <th scope="col">{t('request.header')}</th>
            <th scope="col">{t('request.value')}</th>
          </tr>
        </thead>
        <tbody>
          {of.headers.map(([name, value], at) => (
            <tr key={at}>
              <td>
                <code>{name}</code>
              </td>
              <td className="long">
                <code>{value}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Body({ of }: { of: RequestDetail }): ReactNode {
  const isText = of.body_encoding === 'text';
  const [isFormatted, setFormatted] = useState(true);
  const formatted = useMemo(
    () => (isText && of.body.length <= FORMATTED_MAX ? formatJson(of.body) : null),
    [isText, of.body],
  );
  return (
    <section aria-labelledby="body">
      <h3 id="body">{t('request.body')}</h3>
      {of.erased_at !== undefined ? (
        <p>
          {t('payload.erased')} <Time at={of.erased_at} />
        </p>
      ) : (
        <>
          <p className="actions">
            {formatted !== null && <FormattedSwitch isFormatted={isFormatted} onChange={setFormatted} />}
            {isText && <CopyButton text={of.body} label={t('copy')} />}
            <button
              type="button"
              className="small"
              onClick={() => download(bytesOf(of), of.id, 'application/octet-stream')}
            >
              {t('download')}
            </button>
            <span className="quiet">
              {t('payload.size', { bytes: of.size_bytes })}
              {!isText && ` · ${t('request.base64')}`}
            </span>
          </p>
          {isFormatted && formatted !== null ? (
            <JsonView text={formatted} label={t('request.body')} found={NOTHING_FOUND} isFormatted />
          ) : (
            <TextView text={of.body} label={t('request.body')} />
          )}
        </>
      )}
    </section>
  );
}

function Answer({ of: { answer } }: { of: RequestDetail }): ReactNode {
  return (
    <section aria-labelledby="answer">
      <h3 id="answer">{t('request.answer')}</h3>
      {answer === null ? (
        <p className="quiet">{t('request.no-answer')}</p>
      ) : (
        <>
          <p>
            <strong>HTTP {answer.status}</strong>
          </p>
          <pre tabIndex={0}>
            {[...Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`), '', answer.body ?? '']
              .join('\n')
              .trim() || '–'}
          </pre>
          {answer.truncated && <p className="quiet">{t('payload.cut')}</p>}
        </>
      )}
    </section>
  );
}

function Actions({ id, of }: { id: string; of: RequestDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  if (of.erased_at !== undefined || of.status === 'too_large') return null;
  const replay = async (): Promise<void> => {
    const { event_id: event } = await answered(
      api.POST('/v1/endpoints/{id}/requests/{requestId}/replay', { params: { path: { id, requestId: of.id } } }),
    );
    await queries.invalidateQueries({ queryKey: ['requests', env, id] });
    await queries.invalidateQueries({ queryKey: ['request', env, id, of.id] });
    void navigate({
      to: '/$env/endpoints/$id/requests/$request',
      params: { env, id, request: event.replace('evt_', 'req_') },
    });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => setAsked(true)}>
        {t('replay')}
      </button>
      <Link className="button" to="/$env/endpoints/$id/routes" params={{ env, id }} search={{ request: of.id }}>
        {t('request.try-routes')}
      </Link>
      <Link className="button" to="/$env/endpoints/$id/transform" params={{ env, id }} search={{ request: of.id }}>
        {t('request.try-transform')}
      </Link>
      {isAsked && (
        <Confirm title={t('replay')} action={t('replay')} onConfirm={replay} onClose={() => setAsked(false)}>
          <p>
            {t('request.replay-text')} <strong>{t(env === 'live' ? 'environment.live' : 'environment.test')}</strong>.
          </p>
        </Confirm>
      )}
    </span>
  );
}
