import type { Vault } from '#kernel/crypto/vault.js';
import { Ids } from '#kernel/ids.js';
import type { Retention } from '#modules/auth/environments/retention.js';
import { BODY_BYTES_DEFAULT } from '#modules/endpoints/contract.js';
import type { EventlessRequests } from '#modules/ledger/eventless-requests.js';
import type { Ledger } from '#modules/ledger/ledger.js';
import { AcceptReceived, type VerifiedRequest } from './accepting.js';
import type { LiveEndpoint } from './live-endpoint.js';
import type { Routing } from './routing.js';

const BODY = Buffer.alloc(BODY_BYTES_DEFAULT + 1, 'a');
const ANSWER = { status: 200, headers: {}, body: '' };

/**
 * Builds an `AcceptReceived` with fakes. Environment n belongs to organization n. Storing a request ends only when the
 * test calls `endOne`.
 */
function arrange(slowRouting: readonly number[] = []): {
  accept: (environmentId: number) => void;
  stored: number[];
  endOne: () => void;
} {
  const stored: number[] = [];
  const ends: (() => void)[] = [];
  const accepting = new AcceptReceived(
    { expiresOnDay: () => Promise.resolve(20_000) } as unknown as Retention,
    {
      route: ({ environmentId }: LiveEndpoint) =>
        slowRouting.includes(environmentId) ? new Promise(() => undefined) : Promise.resolve([]),
    } as unknown as Routing,
    {
      receive: ({ environmentId }: { environmentId: number }) => {
        stored.push(environmentId);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
    } as unknown as Ledger,
    {} as EventlessRequests,
    {} as Vault,
    {} as Ids,
  );
  const verified = {
    id: '01890000-0000-7000-8000-000000000000',
    request: { method: 'POST', path: '/', query: '', url: '', ip: '', headers: [], body: BODY },
    verification: 'none',
    replayOf: null,
    idempotency: null,
    credentials: { headers: new Set(), parameters: new Set() },
  } as unknown as VerifiedRequest;
  return {
    stored,
    endOne: () => ends.shift()?.(),
    accept: (environmentId) => {
      const endpoint = { environmentId, organizationId: `o${environmentId}` } as unknown as LiveEndpoint;
      void accepting.accept(endpoint, verified, { disposition: null, note: null, transformed: null }, ANSWER);
    },
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('AcceptReceived with large requests', () => {
  it('stores a request while the filters of others are slow', async () => {
    const { accept, stored } = arrange([1]);

    for (const environmentId of [1, 1, 1, 2]) accept(environmentId);
    await settle();

    expect(stored).toEqual([2]);
  });

  it('gives the next turn to another organization', async () => {
    const { accept, stored, endOne } = arrange();
    for (const environmentId of [1, 1, 1, 1, 2]) accept(environmentId);
    await settle();
    expect(stored).toEqual([1, 1]);

    endOne();
    await settle();

    expect(stored).toEqual([1, 1, 2]);
    for (let i = 0; i < 4; i += 1) await settle().then(endOne);
  });
});
