import './domains.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Domain, useDomains, useIngestHosts } from './domain-queries';
import { NewDomain } from './NewDomain';

/** The organization's domains, and the hosts of its endpoints. */
export function DomainsScreen(): ReactNode {
  const { can } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useDomains();
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className="page">
      <title>{`${t('nav.domains')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.domains')}</h1>
        {can('admin') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('domain.new')}
          </button>
        ) : (
          <span className="quiet">{t('domain.needs-admin')}</span>
        )}
      </div>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <section className="empty" aria-labelledby="first-domain">
          <h2 id="first-domain">{t('domain.none')}</h2>
          <p>{t('domain.none-text')}</p>
        </section>
      )}
      {rows.length > 0 && <DomainTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      <IngestHosts />
      {isCreating && <NewDomain onClose={() => setCreating(false)} />}
    </div>
  );
}

function DomainTable({ rows }: { rows: readonly Domain[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.domains')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('domain.name')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('domain.kind')}</th>
            <th scope="col">{t('domain.records')}</th>
            <th scope="col">{t('domain.checked')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const required = row.records.filter((record) => record.required);
            return (
              <tr key={row.id}>
                <td className="long">
                  <Link to="/$env/domains/$id" params={{ env, id: row.id }}>
                    {row.domain}
                  </Link>
                </td>
                <td>
                  <Status of={row.state} />
                  {row.reputation !== 'healthy' && (
                    <div>
                      <Status of={row.reputation} />
                    </div>
                  )}
                </td>
                <td>{word('kind', row.kind)}</td>
                <td>
                  {t('domain.seen', {
                    seen: required.filter(({ status }) => status === 'verified').length,
                    count: required.length,
                  })}
                </td>
                <td>
                  <Time at={row.updated_at} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function IngestHosts(): ReactNode {
  const { data, error } = useIngestHosts();
  return (
    <section aria-labelledby="ingest">
      <h2 id="ingest">{t('ingest')}</h2>
      <p className="quiet">{t('ingest.text')}</p>
      <FaultLine fault={error} />
      {data && (
        <div className="scroll" tabIndex={0} role="group" aria-labelledby="ingest">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('ingest.host')}</th>
                <th scope="col">{t('domain.kind')}</th>
                <th scope="col">{t('ingest.prefix')}</th>
              </tr>
            </thead>
            <tbody>
              {data.data.map((row) => (
                <tr key={row.id}>
                  <td>
                    {row.host}
                    {row.default && <span className="tag">{t('ingest.default')}</span>}
                  </td>
                  <td>{t(row.kind === 'platform' ? 'ingest.platform' : 'ingest.custom')}</td>
                  <td className="long">
                    <code>{row.prefix}</code> <CopyButton text={row.prefix} label={t('copy')} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
