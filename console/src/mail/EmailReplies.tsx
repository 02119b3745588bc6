import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import { useReplies } from './mail-queries';

/** Received messages that reply to an email. Renders nothing without replies. */
export function EmailReplies({ id }: { id: string }): ReactNode {
  const { environment: env } = useSigned();
  const { data } = useReplies(id);
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section aria-labelledby="replies">
      <h2 id="replies">{t('email.replies')}</h2>
      <ul>
        {data.data.map((reply) => (
          <li key={reply.id}>
            <Link to="/$env/inbox/$alias/$id" params={{ env, alias: reply.alias_id, id: reply.id }} preload={false}>
              <bdi>{reply.subject || t('mail.no-subject')}</bdi>
            </Link>{' '}
            <Addresses of={[reply.from]} />{' '}
            <span className="quiet">
              <Time at={reply.received_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
