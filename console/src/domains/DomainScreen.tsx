import './domains.css';
import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { FaultLine } from '../kit/form/FaultLine';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { DkimKeys } from './DkimKeys';
import { type Domain, type DomainRecord, useDomain, useKnownDomain } from './domain-queries';
import { DomainActions } from './DomainActions';
import { Reputation } from './Reputation';

const PARTS: readonly SkeletonPart[] = ['title', 'text', ['facts', 6], 'heading', 'text', ['cards', 4]];

/** One domain: the DNS records to publish, with the result of the last check. */
export function DomainScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/domains/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useDomain(id);
  return (
    <div className="page">
      <title>{`${data?.domain ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/domains`} label={t('nav.domains')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>{data.domain}</h1>
            <Status of={data.state} />
            {data.reputation !== 'healthy' && <Status of={data.reputation} />}
            <DomainActions domain={data} />
          </div>
          <p className="why">{t(`domain.why.${data.state}`)}</p>
          {data.reputation === 'paused' && <p className="why">{t('domain.paused')}</p>}
          <Facts domain={data} />
          {data.state !== 'verified' && <Records domain={data} />}
          {data.kind !== 'webhook' && <Reputation domain={data} />}
          {data.dkim !== null && <DkimKeys domain={data} dkim={data.dkim} />}
          {data.state === 'verified' && <Records domain={data} />}
        </>
      )}
    </div>
  );
}

function Facts({ domain }: { domain: Domain }): ReactNode {
  const yes = (is: boolean): ReactNode => (
    <span className={`status ${is ? 'good' : 'dull'}`}>
      <span aria-hidden="true">{is ? '✓' : '–'}</span> {t(is ? 'domain.yes' : 'domain.no')}
    </span>
  );
  return (
    <dl className="facts">
      <div>
        <dt>{t('domain.kind')}</dt>
        <dd>{word('kind', domain.kind)}</dd>
      </div>
      {domain.kind !== 'webhook' && (
        <div>
          <dt>{t('domain.sends')}</dt>
          <dd>{domain.reputation === 'paused' ? <Status of="paused" /> : yes(domain.sending_enabled)}</dd>
        </div>
      )}
      {domain.kind !== 'email-send' && (
        <div>
          <dt>{t('domain.receives')}</dt>
          <dd>{yes(domain.receiving_enabled)}</dd>
        </div>
      )}
      <div>
        <dt>{t('domain.checked')}</dt>
        <dd>
          <Time at={domain.updated_at} />
        </dd>
      </div>
      {domain.verified_at !== null && (
        <div>
          <dt>{t('domain.verified')}</dt>
          <dd>
            <Time at={domain.verified_at} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('created')}</dt>
        <dd>
          <Time at={domain.created_at} />
        </dd>
      </div>
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{domain.id}</code> <CopyButton text={domain.id} />
        </dd>
      </div>
    </dl>
  );
}

function Records({ domain }: { domain: Domain }): ReactNode {
  const { api, can } = useSigned();
  const known = useKnownDomain();
  const { mutate, error, isPending, isSuccess } = useMutation({
    mutationFn: async () =>
      known(await answered(api.POST('/v1/domains/{id}/verify', { params: { path: { id: domain.id } } }))),
  });
  return (
    <section aria-labelledby="records">
      <div className="heading">
        <h2 id="records">{t('domain.records')}</h2>
        <span role="status">{isPending ? t('domain.checking') : isSuccess ? t('domain.checked-now') : ''}</span>
        {can('admin') && (
          <button type="button" disabled={isPending} onClick={() => mutate()}>
            {t('domain.check')}
          </button>
        )}
      </div>
      <p className="quiet">{t('domain.records-text')}</p>
      <FaultLine fault={error} />
      <ul className="records">
        {domain.records.map((record) => (
          <li key={`${record.type} ${record.name} ${record.value}`}>
            <OneRecord record={record} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneRecord({ record }: { record: DomainRecord }): ReactNode {
  const fields: [label: string, value: string][] = [
    [t('domain.name'), record.name],
    [t('domain.value'), record.value],
  ];
  return (
    <>
      <p className="record-head">
        <strong>{record.type}</strong>
        <span>{word('role', record.record)}</span>
        {!record.required && <span className="tag">{t('domain.optional')}</span>}
        <Status of={record.status} kind="record" />
      </p>
      <dl className="record-fields">
        {fields.map(([label, value]) => (
          <RecordField key={label} label={label} of={record}>
            {value}
          </RecordField>
        ))}
        {record.priority !== null && (
          <RecordField label={t('domain.priority')} of={record}>
            {String(record.priority)}
          </RecordField>
        )}
        <dt>TTL</dt>
        <dd>{record.ttl}</dd>
      </dl>
      {record.error !== null && <p className="why">{record.error}</p>}
    </>
  );
}

function RecordField({ label, of, children }: { label: string; of: DomainRecord; children: string }): ReactNode {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <code>{children}</code> <CopyButton text={children} name={`${t('copy')} ${label} ${of.type} ${of.name}`} />
      </dd>
    </>
  );
}
