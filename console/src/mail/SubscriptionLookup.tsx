import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { inObject } from '../kit/undo/cached-rows';
import type { Change } from '../kit/undo/perform';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import { isRestorable } from './topic-changes';
import { type Subscription, type Topic, useSubscription } from './topic-queries';

/** Form that finds the subscription of one address, and changes the subscription. */
export function SubscriptionLookup({ topic }: { topic: Topic }): ReactNode {
  const [typed, setTyped] = useState('');
  const [address, setAddress] = useState('');
  const { data, error } = useSubscription(topic.id, address);
  return (
    <>
      <form
        className="mail-filters"
        onSubmit={(event) => {
          event.preventDefault();
          setAddress(typed.trim());
        }}
      >
        <label>
          {t('suppression.email')}
          <input
            required
            type="text"
            inputMode="email"
            maxLength={320}
            size={28}
            value={typed}
            autoComplete="off"
            spellCheck={false}
            placeholder="customer@example.org"
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <button type="submit">{t('topic.find')}</button>
      </form>
      <FaultLine fault={error} />
      {data && <Found topic={topic} subscription={data} />}
    </>
  );
}

function Found({ topic, subscription }: { topic: Topic; subscription: Subscription }): ReactNode {
  const { can } = useSigned();
  const change = useSubscriptionChange(topic);
  const isIn = subscription.subscription === 'opt_in';
  return (
    <div className="why">
      <p className="actions" role="status">
        <strong>
          <bdi>{subscription.email}</bdi>
        </strong>
        <Status of={subscription.subscription} />
        {subscription.origin === 'default' && <span className="quiet">{t('topic.by-default')}</span>}
      </p>
      {can('write') && (
        <p>
          <button type="button" onClick={() => change(subscription)}>
            {t(isIn ? 'topic.unsubscribe' : 'topic.subscribe')}
          </button>
        </p>
      )}
    </div>
  );
}

/**
 * Returns a function that subscribes or unsubscribes an address, and offers to undo the change. Does not offer undo if
 * the recipient made the previous choice, because the API cannot restore it as a choice of the recipient.
 */
function useSubscriptionChange(topic: Topic): (before: Subscription) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return (before) => {
    const { email } = before;
    const params = { path: { id: topic.id, address: email } };
    const changeTo = (to: Pick<Subscription, 'subscription' | 'origin'>): Change => ({
      subject: `${topic.id} ${email}`,
      views: [{ queryKey: ['topic-subscription', env, topic.id, email], change: inObject(to) }],
      refreshed: [['topic-subscriptions', env, topic.id]],
      send: () =>
        answered(
          to.origin === 'default'
            ? api.DELETE('/v1/topics/{id}/subscriptions/{address}', { params })
            : api.PUT('/v1/topics/{id}/subscriptions/{address}', { params, body: { subscription: to.subscription } }),
        ),
      done: t(to.subscription === 'opt_in' ? 'undo.subscribed' : 'undo.unsubscribed', { email }),
    });
    const change = changeTo({ subscription: before.subscription === 'opt_in' ? 'opt_out' : 'opt_in', origin: 'api' });
    run(isRestorable(before) ? { ...change, inverse: changeTo(before) } : change);
  };
}
