import './mail.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type Topic, useTopics } from './topic-queries';
import { TopicForm } from './TopicForm';

/** List of topics: kinds of email that recipients can unsubscribe from. */
export function TopicsScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useTopics();
  const [isCreating, setCreating] = useState(false);
  return (
    <div className="page">
      <title>{`${t('nav.topics')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.topics')}</h1>
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('topic.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <section className="empty" aria-labelledby="first-topic">
          <h2 id="first-topic">{t('topic.none')}</h2>
          <p>{t('topic.none-text')}</p>
        </section>
      )}
      {rows.length > 0 && <TopicTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <TopicForm topic={null} onClose={() => setCreating(false)} />}
    </div>
  );
}

function TopicTable({ rows }: { rows: readonly Topic[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.topics')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('template.name')}</th>
            <th scope="col">{t('topic.key')}</th>
            <th scope="col">{t('topic.default')}</th>
            <th scope="col">{t('created')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="long">
                <Link to="/$env/topics/$id" params={{ env, id: row.id }}>
                  <bdi>{row.name}</bdi>
                </Link>
                {row.description !== null && <div className="quiet">{row.description}</div>}
              </td>
              <td>
                <code>{row.key}</code>
              </td>
              <td>{t(`topic.default.${row.default_subscription}`)}</td>
              <td>
                <Time at={row.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
