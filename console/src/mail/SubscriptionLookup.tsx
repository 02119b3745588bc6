import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { type Subscription, type Topic, useSubscription } from './topic-queries';

/** Finds the subscription of one address, and changes it. */
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
  const { api, can, environment: env } = useSigned();
  const queries = useQueryClient();
  const isIn = subscription.subscription === 'opt_in';
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      answered(
        api.PUT('/v1/topics/{id}/subscriptions/{address}', {
          params: { path: { id: topic.id, address: subscription.email } },
          body: { subscription: isIn ? 'opt_out' : 'opt_in' },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['topic-subscription', env, topic.id] });
      await queries.invalidateQueries({ queryKey: ['topic-subscriptions', env, topic.id] });
    },
  });
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
          <button type="button" disabled={isPending} onClick={() => mutate()}>
            {t(isIn ? 'topic.unsubscribe' : 'topic.subscribe')}
          </button>
        </p>
      )}
      <FaultLine fault={error} />
    </div>
  );
}
