import './mail.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { AliasForm } from './AliasForm';
import { type Alias, useAliases, useDestinationChoices } from './mail-queries';

/** List of aliases, the addresses that receive mail. */
export function InboxScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useAliases();
  const [isCreating, setCreating] = useState(false);
  return (
    <div className="page">
      <title>{`${t('nav.inbox')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.inbox')}</h1>
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('alias.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <section className="empty" aria-labelledby="first-alias">
          <h2 id="first-alias">{t('alias.none')}</h2>
          <p>{t('alias.none-text')}</p>
        </section>
      )}
      {rows.length > 0 && <AliasTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <AliasForm alias={null} onClose={() => setCreating(false)} />}
    </div>
  );
}

function AliasTable({ rows }: { rows: readonly Alias[] }): ReactNode {
  const { environment: env } = useSigned();
  const { data: destinations } = useDestinationChoices();
  const nameOf = (id: string): string => destinations?.data.find((each) => each.id === id)?.name ?? id;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.inbox')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('alias.address')}</th>
            <th scope="col">{t('alias.goes-to')}</th>
            <th scope="col">{t('alias.senders')}</th>
            <th scope="col">{t('created')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((alias) => (
            <tr key={alias.id}>
              <td className="long">
                <Link to="/$env/inbox/$alias" params={{ env, alias: alias.id }}>
                  {alias.address}
                </Link>{' '}
                <CopyButton text={alias.address} label={t('copy')} />
              </td>
              <td>
                {alias.destinationIds.length === 0 ? (
                  <span className="quiet">{t('alias.kept')}</span>
                ) : (
                  alias.destinationIds.map((id) => <div key={id}>{nameOf(id)}</div>)
                )}
              </td>
              <td>
                {alias.allowedSenders.length === 0
                  ? t('alias.everybody')
                  : alias.allowedSenders.slice(0, 3).join(', ') + (alias.allowedSenders.length > 3 ? ' …' : '')}
              </td>
              <td>
                <Time at={alias.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
