import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { sectionReference } from '../api/reference';
import { Confirm } from '../kit/dialog/Confirm';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
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
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.members')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.members')}</h1>
        {can('admin') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('members.add')}
          </button>
        )}
      </div>
      {!can('admin') && <p>{t('for-admins')}</p>}
      {can('admin') && isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="members"
          title={t('members.none')}
          action={{ label: t('members.add'), onSelect: () => setAsked('new') }}
          docs={{ label: t('docs.api'), href: sectionReference('Members') }}
        >
          {t('members.none-text')}
        </EmptyState>
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
          success={t('members.removed')}
          onConfirm={act}
          onClose={close}
        >
          <p>{t('members.remove-text')}</p>
        </Confirm>
      )}
      {asked !== null && asked !== 'new' && asked.act === 'role' && (
        <Confirm
          title={t('members.role-change')}
          action={t('members.role-change')}
          success={t('members.role-changed')}
          onConfirm={act}
          onClose={close}
        >
          <p>{t('members.role-text', { name: asked.of.name, role: word('scope', asked.role) })}</p>
        </Confirm>
      )}
    </div>
  );
}

function MemberTable({ rows, onAsk }: { rows: readonly Member[]; onAsk: (asked: Asked) => void }): ReactNode {
  const columns: Column<Member>[] = [
    { id: 'name', label: t('members.name'), cell: ({ name }) => name, isFlexible: true },
    { id: 'email', label: t('members.email'), cell: ({ email }) => email, isFlexible: true },
    {
      id: 'role',
      label: t('members.role'),
      cell: (of) => (
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
      ),
    },
    {
      id: 'seen',
      label: t('members.seen'),
      cell: ({ last_signed_in_at: at }) => (at === null ? t('members.never') : <RelativeTime at={at} />),
    },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return (
    <Table
      id="members"
      label={t('nav.members')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      actions={{
        nameOf: ({ name }) => name,
        itemsOf: (of) => [{ label: t('members.remove'), onSelect: () => onAsk({ act: 'remove', of }) }],
      }}
    />
  );
}
