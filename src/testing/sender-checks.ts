import assert from 'node:assert/strict';
import { type Access, Client, until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { TargetUnderTest } from './door-checks.js';

/** An extension's code that sends messages with `MessageSender`. */
export interface SenderUnderTest {
  service(): Promise<Access> | Access;
  target: TargetUnderTest;
  /**
   * Makes the code send one message. Repeated calls with the same `occasion` send no second message. Returns the
   * message's id, `msg_…`.
   */
  send(destination: string, occasion: string): Promise<string>;
  /**
   * Makes the code send to a destination that does not exist. Resolves to the HTTP status with which the extension
   * responds.
   */
  sendRefused(destination: string): Promise<number>;
}

const MISSING = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

export function senderConformance(subject: SenderUnderTest): ConformanceCheck[] {
  let made: Promise<string> | null = null;
  const client = async (): Promise<Client> => new Client(await subject.service());
  const create = async (): Promise<string> => {
    const draft = { name: 'Conformance', type: 'https', url: subject.target.url };
    return (await (await client()).expect(201, 'POST', '/v1/destinations', draft))['id'] as string;
  };
  const destination = (): Promise<string> => (made ??= create());
  const eventOf = async (id: string): Promise<Record<string, unknown>> =>
    (await client()).expect(200, 'GET', `/v1/events/${id}`);
  const newest = async (): Promise<unknown[]> => {
    const { data } = await (await client()).expect(200, 'GET', '/v1/events?limit=1');
    return (data as { id: string }[]).map(({ id }) => id);
  };
  const arrivals = (id: string): number =>
    subject.target.received().filter(({ headers }) => headers['webhook-id'] === id).length;
  return [
    {
      name: 'a message that the code sends is accepted for the tenant and delivered',
      run: async () => {
        const id = await subject.send(await destination(), 'first');
        await until(
          () => eventOf(id),
          ({ status }) => status === 'delivered',
        );
        assert.equal(arrivals(id), 1);
      },
    },
    {
      name: 'the code sends once for one occasion, also if it is called again or twice at the same time',
      run: async () => {
        const target = await destination();
        const both = await Promise.allSettled([subject.send(target, 'second'), subject.send(target, 'second')]);
        const ids = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
        const again = await subject.send(target, 'second');
        assert.deepEqual([...new Set([...ids, again])], [again]);
        await until(
          () => eventOf(again),
          ({ status }) => status === 'delivered',
        );
        assert.equal(arrivals(again), 1);
        assert.notEqual(await subject.send(target, 'third'), again);
      },
    },
    {
      name: '422: a refusal reaches the caller of the code, and nothing is stored',
      run: async () => {
        const before = await newest();
        assert.equal(await subject.sendRefused(MISSING), 422);
        assert.deepEqual(await newest(), before);
      },
    },
  ];
}
