import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { NewMember, type Role, ROLES } from './NewMember';

type Member = Schemas['MemberItem'];
type Asked = { act: 'remove'; of: Member } | { act: 'role'; of: Member; role: Role };

/** Members who can sign in, with their roles. */
export function MembersScreen(): ReactNode {
  const { api, can } = useSigned();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked | 'new' | null>(null);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['members'],
    initialPageParam: undefined as string | undefined,
    enabled: can('admin'),
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/members', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['members'] });
  const act = async (): Promise<void> => {
    if (asked === null || asked === 'new') return;
    const params = { path: { id: asked.of.id } };
    if (asked.act === 'remove') await answered(api.DELETE('/v1/members/{id}', { params }));
    else await answered(api.PATCH('/v1/members/{id}', { params, body: { role: asked.role } }));
    await refresh();
  };
  const close = (): void => setAsked(null);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className="page">
      <title>{`${t('nav.members')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.members')}</h1>
        {can('admin') && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('members.add')}
          </button>
        )}
      </div>
      {!can('admin') && <p>{t('for-admins')}</p>}
      {can('admin') && isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('members.none')}
        </p>
      )}
      {rows.length > 0 && <MemberTable rows={rows} onAsk={setAsked} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && <NewMember onAdded={refresh} onClose={close} />}
      {asked !== null && asked !== 'new' && asked.act === 'remove' && (
        <Confirm
          title={`${t('members.remove')}: ${asked.of.name}`}
          action={t('members.remove')}
          isDangerous
          typed={asked.of.email}
          onConfirm={act}
          onClose={close}
        >
          <p>{t('members.remove-text')}</p>
        </Confirm>
      )}
      {asked !== null && asked !== 'new' && asked.act === 'role' && (
        <Confirm title={t('members.role-change')} action={t('members.role-change')} onConfirm={act} onClose={close}>
          <p>{t('members.role-text', { name: asked.of.name, role: word('scope', asked.role) })}</p>
        </Confirm>
      )}
    </div>
  );
}

function MemberTable({ rows, onAsk }: { rows: readonly Member[]; onAsk: (asked: Asked) => void }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.members')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('members.name')}</th>
            <th scope="col">{t('members.email')}</th>
            <th scope="col">{t('members.role')}</th>
            <th scope="col">{t('members.seen')}</th>
            <th scope="col">{t('created')}</th>
            <th scope="col">{t('actions')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((of) => (
            <tr key={of.id}>
              <td>{of.name}</td>
              <td>{of.email}</td>
              <td>
                <select
                  aria-label={t('members.role-of', { name: of.name })}
                  value={of.role}
                  onChange={(event) => onAsk({ act: 'role', of, role: event.target.value as Role })}
                >
                  {ROLES.map((role) => (
                    <option key={role} value={role}>
                      {word('scope', role)}
                    </option>
                  ))}
                </select>
              </td>
              <td>{of.last_signed_in_at === null ? t('members.never') : <Time at={of.last_signed_in_at} />}</td>
              <td>
                <Time at={of.created_at} />
              </td>
              <td>
                <button
                  type="button"
                  className="small"
                  aria-label={`${t('members.remove')}: ${of.name}`}
                  onClick={() => onAsk({ act: 'remove', of })}
                >
                  {t('members.remove')}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
