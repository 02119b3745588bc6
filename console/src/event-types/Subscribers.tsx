import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';

const PAGE = 50;

/** Endpoints of customers that subscribe to an event type. */
export function Subscribers({ name }: { name: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['subscribers', env, name],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/event-types/{name}/subscribers', {
          params: { path: { name }, query: { limit: PAGE, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section aria-labelledby="subscribers">
      <h2 id="subscribers">{t('event-type.subscribers')}</h2>
      {isPending && <Skeleton parts={[['cards', 1]]} isSection />}
      <FaultLine fault={error} />
      <div role="status">
        {data && rows.length === 0 && (
          <p className="quiet">{t(hasNextPage ? 'event-type.no-subscriber-yet' : 'event-type.no-subscriber')}</p>
        )}
      </div>
      <ul className="cards">
        {rows.map(
          ({
            endpoint,
            application,
            application_name: customer,
            application_uid: uid,
            url,
            destination,
            status,
            event_types: types,
            channels,
            is_filtered: isFiltered,
          }) => (
            <li key={endpoint} className="card">
              <div className="heading">
                <h3 className="clamped" title={url ?? destination ?? endpoint}>
                  <PathLink to={`/${env}/applications/${application}/endpoints/${endpoint}`}>
                    {url ?? destination ?? endpoint}
                  </PathLink>
                </h3>
                <PathLink to={`/${env}/applications/${application}`}>
                  <bdi>{customer || uid || application}</bdi>
                </PathLink>
                <span className="quiet">
                  {types.join(', ') || t('event-type.subscribes-all')}
                  {channels.length > 0 && ` · ${t('event-type.channels', { channels: channels.join(', ') })}`}
                </span>
                {isFiltered && <span className="tag">{t('event-type.filtered')}</span>}
                <Status of={status} />
              </div>
            </li>
          ),
        )}
      </ul>
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('event-type.more-subscribers')}
          </button>
        </p>
      )}
    </section>
  );
}
