import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Confirm } from '../kit/dialog/Confirm';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { keyState } from './key-state';
import { NewKey } from './NewKey';

type Key = Schemas['KeyItem'];
const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

/** List of API keys, in which the user can create and rotate keys. A new key is shown only once. */
export function KeysScreen(): ReactNode {
  const { api, environment, can } = useSigned();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ act: 'revoke' | 'rotate'; key: Key } | 'new' | null>(null);
  const [issued, setIssued] = useState<string | null>(null);
  const [grace, setGrace] = useState(86_400);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['keys', environment],
    initialPageParam: undefined as string | undefined,
    enabled: can('admin'),
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/keys', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['keys', environment] });
  const act = async (): Promise<void> => {
    if (asked === null || asked === 'new') return;
    const params = { path: { id: asked.key.id } };
    if (asked.act === 'revoke') await answered(api.DELETE('/v1/keys/{id}', { params }));
    else setIssued((await answered(api.POST('/v1/keys/{id}/rotate', { params, body: { grace_seconds: grace } }))).key);
    await refresh();
  };
  const close = (): void => setAsked(null);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className="page">
      <title>{`${t('nav.keys')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.keys')}</h1>
        {can('admin') && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('key.new')}
          </button>
        )}
      </div>
      {!can('admin') && <p>{t('needs-admin')}</p>}
      {can('admin') && isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {rows.length > 0 && <KeyTable rows={rows} onAsk={setAsked} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && (
        <NewKey
          onIssued={(key) => {
            setIssued(key);
            void refresh();
          }}
          onClose={close}
        />
      )}
      {asked !== null && asked !== 'new' && (
        <Confirm
          title={t(asked.act === 'revoke' ? 'key.revoke' : 'key.rotate')}
          action={t(asked.act === 'revoke' ? 'key.revoke' : 'key.rotate')}
          isDangerous={asked.act === 'revoke'}
          onConfirm={act}
          onClose={close}
          {...(asked.act === 'revoke' && { typed: asked.key.name })}
        >
          <p>
            <strong>{asked.key.name}</strong> <code>{asked.key.prefix}…</code>
          </p>
          <p>{t(asked.act === 'revoke' ? 'key.revoke-text' : 'key.rotate-text')}</p>
          {asked.act === 'rotate' && (
            <label>
              {t('grace')}
              <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
                {GRACES.map(([seconds, label]) => (
                  <option key={seconds} value={seconds}>
                    {t(label)}
                  </option>
                ))}
              </select>
            </label>
          )}
        </Confirm>
      )}
      {issued !== null && asked === null && (
        <Dialog title={t('key.issued')} onClose={() => setIssued(null)}>
          <p>{t('key.once')}</p>
          <p>
            <code className="secret">{issued}</code>
          </p>
          <p className="actions">
            <CopyButton text={issued} label={t('copy')} />
            <button type="button" onClick={() => setIssued(null)}>
              {t('close')}
            </button>
          </p>
        </Dialog>
      )}
    </div>
  );
}

function KeyTable({
  rows,
  onAsk,
}: {
  rows: readonly Key[];
  onAsk: (asked: { act: 'revoke' | 'rotate'; key: Key }) => void;
}): ReactNode {
  const nowMs = serviceNowMs();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.keys')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('key.name')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('key.scope')}</th>
            <th scope="col">{t('key.prefix')}</th>
            <th scope="col">{t('key.source')}</th>
            <th scope="col">{t('key.used')}</th>
            <th scope="col">{t('key.expires')}</th>
            <th scope="col">{t('key.actions')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((key) => {
            const state = keyState(key, nowMs);
            return (
              <tr key={key.id}>
                <td>{key.name}</td>
                <td>
                  <Status of={state} />
                </td>
                <td>{word('scope', key.scope)}</td>
                <td>
                  <code>{key.prefix}…</code>
                </td>
                <td>{key.client_name ?? word('source', key.source)}</td>
                <td>{key.last_used_at === null ? '–' : <Time at={key.last_used_at} />}</td>
                <td>{key.expires_at === null ? '–' : <Time at={key.expires_at} />}</td>
                <td>
                  {state === 'active' && (
                    <span className="actions">
                      <button
                        type="button"
                        className="small"
                        aria-label={`${t('key.rotate')} ${key.name}`}
                        onClick={() => onAsk({ act: 'rotate', key })}
                      >
                        {t('key.rotate')}
                      </button>
                      <button
                        type="button"
                        className="small"
                        aria-label={`${t('key.revoke')} ${key.name}`}
                        onClick={() => onAsk({ act: 'revoke', key })}
                      >
                        {t('key.revoke')}
                      </button>
                    </span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
