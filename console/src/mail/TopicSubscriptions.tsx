import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { SUBSCRIPTIONS, type TopicFilters } from './mail-filters';
import { SubscriptionLookup } from './SubscriptionLookup';
import { type Subscription, type Topic, useSubscriptions } from './topic-queries';

/** Addresses whose subscription to a topic was set, with a filter. */
export function TopicSubscriptions({ topic }: { topic: Topic }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const filters = useSearch({ from: '/$env/topics/$id' });
  const { rows, data, error, hasNextPage, fetchNextPage } = useSubscriptions(topic.id, filters);
  const [asked, setAsked] = useState<Subscription | null>(null);
  const reset = async ({ email }: Subscription): Promise<void> => {
    await answered(
      api.DELETE('/v1/topics/{id}/subscriptions/{address}', { params: { path: { id: topic.id, address: email } } }),
    );
    await queries.invalidateQueries({ queryKey: ['topic-subscriptions', env, topic.id] });
    await queries.invalidateQueries({ queryKey: ['topic-subscription', env, topic.id] });
  };
  return (
    <section aria-labelledby="subscriptions">
      <h2 id="subscriptions">{t('topic.subscriptions')}</h2>
      <SubscriptionLookup topic={topic} />
      <Filter topic={topic} filters={filters} />
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t(filters.subscription === undefined ? 'topic.nobody' : 'topic.none-match')}
        </p>
      )}
      {rows.length > 0 && <Table rows={rows} onReset={setAsked} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked !== null && (
        <Confirm
          title={t('topic.reset')}
          action={t('topic.reset')}
          onConfirm={() => reset(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            <strong>
              <bdi>{asked.email}</bdi>
            </strong>
          </p>
          <p>{t(`topic.reset-text.${topic.default_subscription}`)}</p>
        </Confirm>
      )}
    </section>
  );
}

function Filter({ topic, filters }: { topic: Topic; filters: TopicFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  return (
    <form className="mail-filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('topic.subscription')}
        <select
          value={filters.subscription ?? ''}
          onChange={({ target: { value } }) =>
            void navigate({
              to: '/$env/topics/$id',
              params: { env, id: topic.id },
              search: value === '' ? {} : { subscription: value as (typeof SUBSCRIPTIONS)[number] },
            })
          }
        >
          <option value="">{t('filter.any')}</option>
          {SUBSCRIPTIONS.map((each) => (
            <option key={each} value={each}>
              {t(`status.${each}`)}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

interface TableProps {
  rows: readonly Subscription[];
  onReset: (row: Subscription) => void;
}

function Table({ rows, onReset }: TableProps): ReactNode {
  const { can, environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="group" aria-labelledby="subscriptions">
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('suppression.email')}</th>
            <th scope="col">{t('topic.subscription')}</th>
            <th scope="col">{t('topic.origin')}</th>
            <th scope="col">{t('suppression.since')}</th>
            {can('write') && <th scope="col">{t('key.actions')}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.email}>
              <td className="long">
                <bdi>{row.email}</bdi>
              </td>
              <td>
                <Status of={row.subscription} />
              </td>
              <td>
                {word('origin', row.origin)}{' '}
                {row.source_id !== null && (
                  <Link
                    to="/$env/emails/$id"
                    params={{ env, id: row.source_id }}
                    preload={false}
                    aria-label={`${t('mail.email')}: ${row.email}`}
                  >
                    {t('mail.email')}
                  </Link>
                )}
              </td>
              <td>{row.updated_at === null ? '–' : <Time at={row.updated_at} />}</td>
              {can('write') && (
                <td>
                  <button
                    type="button"
                    className="small"
                    aria-label={`${t('topic.reset')}: ${row.email}`}
                    onClick={() => onReset(row)}
                  >
                    {t('topic.reset')}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
