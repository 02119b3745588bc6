import './mail.css';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { sectionReference } from '../api/reference';
import { Confirm } from '../kit/dialog/Confirm';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { type TemplateRow, useKnownTemplate, useTemplates } from './template-queries';

/** List of email templates. */
export function TemplatesScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useTemplates();
  const [isCreating, setCreating] = useState(false);
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.templates')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.templates')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('template.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="templates"
          title={t('template.none')}
          action={can('write') ? { label: t('template.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Templates') }}
        >
          {t('template.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <TemplateTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewTemplate onClose={() => setCreating(false)} />}
    </div>
  );
}

function TemplateTable({ rows }: { rows: readonly TemplateRow[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<TemplateRow>[] = [
    {
      id: 'name',
      label: t('template.name'),
      cell: ({ id, name }) => (
        <Link to="/$env/templates/$id" params={{ env, id }}>
          <bdi>{name}</bdi>
        </Link>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ status, published_version: published, has_unpublished_versions: hasNewer }) => (
        <>
          <Status of={status} />{' '}
          {published !== null && hasNewer && <span className="quiet">{t('template.unpublished')}</span>}
        </>
      ),
    },
    {
      id: 'alias',
      label: t('template.alias'),
      cell: ({ alias }) => (alias === null ? '–' : <code>{alias}</code>),
      full: ({ alias }) => alias ?? '–',
      isFlexible: true,
    },
    { id: 'version', label: t('template.version'), cell: ({ version }) => version, isNumeric: true },
    { id: 'updated', label: t('template.updated'), cell: ({ updated_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="templates" label={t('nav.templates')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}

function NewTemplate({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const navigate = useNavigate();
  const known = useKnownTemplate();
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    const made = await answered(api.POST('/v1/templates', { body: { name: name.trim() } }));
    await known(made);
    void navigate({ to: '/$env/templates/$id', params: { env, id: made.id } });
  };
  return (
    <Confirm
      title={t('template.new')}
      action={t('create')}
      isOff={name.trim() === ''}
      onConfirm={create}
      onClose={onClose}
    >
      <p>
        <label>
          {t('template.name')}
          <input
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
            placeholder={t('template.name-hint')}
          />
        </label>
      </p>
    </Confirm>
  );
}
