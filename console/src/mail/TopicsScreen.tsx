import './mail.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { type Topic, useTopics } from './topic-queries';
import { NewTopic } from './TopicForm';

/** List of topics: kinds of email that recipients can unsubscribe from. */
export function TopicsScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useTopics();
  const [isCreating, setCreating] = useState(false);
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.topics')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.topics')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('topic.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="topics"
          title={t('topic.none')}
          action={can('write') ? { label: t('topic.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Topics') }}
        >
          {t('topic.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <TopicTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewTopic onClose={() => setCreating(false)} />}
    </div>
  );
}

function TopicTable({ rows }: { rows: readonly Topic[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Topic>[] = [
    {
      id: 'name',
      label: t('template.name'),
      cell: ({ id, name }) => (
        <Link to="/$env/topics/$id" params={{ env, id }}>
          <bdi>{name}</bdi>
        </Link>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    {
      id: 'description',
      label: t('topic.description'),
      cell: ({ description }) => description ?? '–',
      isFlexible: true,
    },
    {
      id: 'key',
      label: t('topic.key'),
      cell: ({ key }) => <code>{key}</code>,
      full: ({ key }) => key,
      isFlexible: true,
    },
    {
      id: 'default',
      label: t('topic.default'),
      cell: ({ default_subscription: subscription }) => t(`topic.default.${subscription}`),
    },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="topics" label={t('nav.topics')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}
