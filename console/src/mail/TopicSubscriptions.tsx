import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { inObject } from '../kit/undo/cached-rows';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import { SUBSCRIPTIONS, type TopicFilters } from './mail-filters';
import { SubscriptionLookup } from './SubscriptionLookup';
import { isRestorable, subscriptionAddition, subscriptionRemoval } from './topic-changes';
import { type Subscription, type Topic, useSubscriptions } from './topic-queries';

/** Addresses that are explicitly subscribed to a topic or unsubscribed from it. The list has a filter. */
export function TopicSubscriptions({ topic }: { topic: Topic }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const filters = useSearch({ from: '/$env/topics/$id' });
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useSubscriptions(topic.id, filters);
  const [asked, setAsked] = useState<Subscription | null>(null);
  const removeSet = useSubscriptionRemoval(topic);
  const startRemoval = (row: Subscription): void => {
    if (isRestorable(row)) removeSet(row);
    else setAsked(row);
  };
  const reset = async ({ email }: Subscription): Promise<void> => {
    await answered(
      api.DELETE('/v1/topics/{id}/subscriptions/{address}', { params: { path: { id: topic.id, address: email } } }),
    );
    await queries.invalidateQueries({ queryKey: ['topic-subscriptions', env, topic.id] });
    await queries.invalidateQueries({ queryKey: ['topic-subscription', env, topic.id] });
  };
  return (
    <section>
      <h2>{t('topic.subscriptions')}</h2>
      <SubscriptionLookup topic={topic} />
      <Filter topic={topic} filters={filters} />
      {isPending && <ListSkeleton rows={4} isSection />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t(filters.subscription === undefined ? 'topic.nobody' : 'topic.none-match')}
        </p>
      )}
      {rows.length > 0 && <SubscriptionTable rows={rows} onReset={startRemoval} />}
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
          success={t('undo.subscription-removed', { email: asked.email })}
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

/** Returns a function that removes a subscription which the API set, and offers to undo the removal. */
function useSubscriptionRemoval(topic: Topic): (row: Subscription) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return (row) => {
    const { email, subscription } = row;
    const subject = `${topic.id} ${email}`;
    const params = { path: { id: topic.id, address: email } };
    const found = ['topic-subscription', env, topic.id, email];
    const byDefault = { subscription: topic.default_subscription, origin: 'default' };
    run({
      subject,
      views: [subscriptionRemoval(env, topic.id, row), { queryKey: found, change: inObject(byDefault) }],
      send: () => answered(api.DELETE('/v1/topics/{id}/subscriptions/{address}', { params })),
      done: t('undo.subscription-removed', { email }),
      inverse: {
        subject,
        views: [
          subscriptionAddition(env, topic.id, row),
          { queryKey: found, change: inObject({ subscription, origin: row.origin }) },
        ],
        send: () => answered(api.PUT('/v1/topics/{id}/subscriptions/{address}', { params, body: { subscription } })),
        done: t(subscription === 'opt_in' ? 'undo.subscribed' : 'undo.unsubscribed', { email }),
      },
    });
  };
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

interface SubscriptionTableProps {
  rows: readonly Subscription[];
  onReset: (row: Subscription) => void;
}

function SubscriptionTable({ rows, onReset }: SubscriptionTableProps): ReactNode {
  const { can, environment: env } = useSigned();
  const columns: Column<Subscription>[] = [
    { id: 'email', label: t('suppression.email'), cell: ({ email }) => email, isFlexible: true },
    {
      id: 'subscription',
      label: t('topic.subscription'),
      cell: ({ subscription }) => <Status of={subscription} />,
    },
    {
      id: 'origin',
      label: t('topic.origin'),
      cell: ({ origin, source_id: source, email }) => (
        <>
          {word('origin', origin)}{' '}
          {source !== null && (
            <Link
              to="/$env/emails/$id"
              params={{ env, id: source }}
              preload={false}
              aria-label={`${t('mail.email')}: ${email}`}
            >
              {t('mail.email')}
            </Link>
          )}
        </>
      ),
    },
    {
      id: 'since',
      label: t('suppression.since'),
      cell: ({ updated_at: at }) => (at === null ? '–' : <RelativeTime at={at} />),
    },
  ];
  return (
    <Table<Subscription>
      id="topic-subscriptions"
      label={t('topic.subscriptions')}
      rows={rows}
      columns={columns}
      keyOf={({ email }) => email}
      {...(can('write') && {
        actions: {
          nameOf: ({ email }) => email,
          itemsOf: (row) => [{ label: t('topic.reset'), onSelect: () => onReset(row) }],
        },
      })}
    />
  );
}
