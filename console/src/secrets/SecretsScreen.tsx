import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { SecretUse } from './SecretUse';
import { SecretValue } from './SecretValue';

type Secret = Schemas['SecretItem'];

/** Named secrets for use in settings. Their values can be set but never read. */
export function SecretsScreen(): ReactNode {
  const { api, environment, can } = useSigned();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ act: 'value' | 'use'; of: Secret } | 'new' | null>(null);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['secrets', environment],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/secrets', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const changed = (): Promise<void> => queries.invalidateQueries({ queryKey: ['secrets', environment] });
  const close = (): void => setAsked(null);
  return (
    <div className="page">
      <title>{`${t('nav.secrets')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.secrets')}</h1>
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('secrets.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('secrets.none')}
        </p>
      )}
      {rows.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.secrets')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('secrets.name')}</th>
                <th scope="col">{t('description')}</th>
                <th scope="col">{t('secrets.use')}</th>
                <th scope="col">{t('secrets.version')}</th>
                <th scope="col">{t('changed')}</th>
                <th scope="col">{t('actions')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((of) => (
                <tr key={of.id}>
                  <td>
                    <strong>{of.name}</strong>
                  </td>
                  <td className="long">{of.description ?? '–'}</td>
                  <td>
                    <code>{`{{secrets.${of.name}}}`}</code>
                  </td>
                  <td>{of.version}</td>
                  <td>
                    <Time at={of.updated_at} />
                  </td>
                  <td>
                    <span className="actions">
                      <button
                        type="button"
                        className="small"
                        aria-label={`${t('secrets.where')}: ${of.name}`}
                        onClick={() => setAsked({ act: 'use', of })}
                      >
                        {t('secrets.where')}
                      </button>
                      {can('write') && (
                        <button
                          type="button"
                          className="small"
                          aria-label={`${t('secrets.rotate')}: ${of.name}`}
                          onClick={() => setAsked({ act: 'value', of })}
                        >
                          {t('secrets.rotate')}
                        </button>
                      )}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && <SecretValue of={null} onChanged={changed} onClose={close} />}
      {asked !== null && asked !== 'new' && asked.act === 'value' && (
        <SecretValue of={asked.of} onChanged={changed} onClose={close} />
      )}
      {asked !== null && asked !== 'new' && asked.act === 'use' && (
        <SecretUse of={asked.of} onChanged={changed} onClose={close} />
      )}
    </div>
  );
}
