import './mail.css';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Topic, useTopic } from './topic-queries';
import { EditTopic } from './TopicForm';
import { TopicSubscriptions } from './TopicSubscriptions';

const PARTS: readonly SkeletonPart[] = ['title', ['facts', 4], 'heading', ['filters', 2], ['rows', 4]];

/** One topic, and the addresses that are explicitly subscribed to it or unsubscribed from it. */
export function TopicScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/topics/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useTopic(id);
  return (
    <div className="page">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/topics`} label={t('nav.topics')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>
              <bdi>{data.name}</bdi>
            </h1>
            <Actions topic={data} />
          </div>
          {data.description !== null && <p>{data.description}</p>}
          <Facts topic={data} />
          <TopicSubscriptions topic={data} />
        </>
      )}
    </div>
  );
}

function Facts({ topic }: { topic: Topic }): ReactNode {
  return (
    <dl className="facts">
      <div>
        <dt>{t('topic.key')}</dt>
        <dd>
          <code>{topic.key}</code> <CopyButton text={topic.key} />
        </dd>
      </div>
      <div>
        <dt>{t('topic.default')}</dt>
        <dd>{t(`topic.default.${topic.default_subscription}`)}</dd>
      </div>
      <div>
        <dt>{t('created')}</dt>
        <dd>
          <Time at={topic.created_at} />
        </dd>
      </div>
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{topic.id}</code> <CopyButton text={topic.id} />
        </dd>
      </div>
    </dl>
  );
}

function Actions({ topic }: { topic: Topic }): ReactNode {
  const { api, can, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/topics/{id}', { params: { path: { id: topic.id } } }));
    await navigate({ to: '/$env/topics', params: { env } });
    queries.removeQueries({ queryKey: ['topic', env, topic.id] });
    await queries.invalidateQueries({ queryKey: ['topics', env] });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => setAsked('edit')}>
        {t('alias.edit')}
      </button>
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      {asked === 'edit' && <EditTopic topic={topic} onClose={() => setAsked(null)} />}
      {asked === 'delete' && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={topic.name}
          onConfirm={remove}
          onClose={() => setAsked(null)}
        >
          <p>{t('topic.delete')}</p>
        </Confirm>
      )}
    </span>
  );
}
