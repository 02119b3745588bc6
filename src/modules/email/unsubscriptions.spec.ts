import type { Config } from '#kernel/config/config.js';
import type { Database } from '#kernel/database/database.js';
import type { Id, Ids } from '#kernel/ids.js';
import type { SystemEvents } from '#modules/system-events/contract.js';
import type { Topics } from '#modules/topics/topics.js';
import type { EmailMetrics } from './email.metrics.js';
import type { StoredDeliveryEvents } from './stored-delivery-events.js';
import type { SuppressionRow, SuppressionsStore } from './suppressions.store.js';
import { Unsubscriptions } from './unsubscriptions.js';

const LINK = {
  environmentId: 7,
  emailId: '019aa4c0-0000-7000-8000-000000000000' as Id,
  topicId: null,
  address: 'ada@target.example',
  senderDomain: 'shop.example',
};
const TOPIC_ID = '019aa4c0-0000-7000-8000-000000000001' as Id;

/** Returns the service, and a list to which its database statements are added. */
function unsubscriptions(): { service: Unsubscriptions; done: string[] } {
  const done: string[] = [];
  const logged =
    <T>(name: string, result: T) =>
    async (): Promise<T> => (done.push(name), result);
  const service = new Unsubscriptions(
    {
      subscriptionOf: logged('read subscription', { key: 'news', name: 'News', subscription: 'opt_in' }),
      choose: logged('choose', true),
    } as unknown as Topics,
    {
      find: logged('read suppression', null),
      add: logged('suppress', {} as SuppressionRow),
    } as unknown as SuppressionsStore,
    { record: logged('record', undefined) } as unknown as StoredDeliveryEvents,
    { note: logged('note', undefined) } as unknown as SystemEvents,
    { recordChoice: () => undefined } as unknown as EmailMetrics,
    { transaction: (work: () => unknown) => work() } as unknown as Database,
    { next: () => TOPIC_ID } as Ids,
    { platformDomain: 'posthorn.example' } as Config,
  );
  return { service, done };
}

describe('Unsubscriptions', () => {
  it('unsubscribes from all emails without reading the suppression first', async () => {
    const { service, done } = unsubscriptions();

    await service.unsubscribe(LINK);

    expect(done).toEqual(['suppress', 'note', 'record']);
  });

  it('reads the topic of a link, whose key is part of the system event', async () => {
    const { service, done } = unsubscriptions();

    await service.unsubscribe({ ...LINK, topicId: TOPIC_ID });

    expect(done).toEqual(['read subscription', 'choose', 'note', 'record']);
  });

  it('a simulator address is not suppressed, and each request creates a system event', async () => {
    const { service, done } = unsubscriptions();
    const link = { ...LINK, address: 'delivered@simulator.posthorn.example' };

    await service.unsubscribe(link);
    await service.unsubscribe(link);

    expect(done).toEqual(['note', 'record', 'note', 'record']);
  });
});
