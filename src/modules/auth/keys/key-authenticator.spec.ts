import { createHash } from 'node:crypto';
import { CredentialLookupLimiter } from '#http/credential-lookup-limiter.js';
import type { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import type { Notifications } from '#kernel/database/notifications.js';
import { generateApiKey } from './api-key.js';
import { KeyAuthenticator } from './key-authenticator.js';
import type { KeyUsage } from './key-usage.js';
import type { KeyFacts, KeysStore, KeyUse } from './keys.store.js';

const KEY = generateApiKey('live', Buffer.alloc(32, 1));
const OTHER = generateApiKey('live', Buffer.alloc(32, 2));

function arrange(change: Partial<KeyFacts> = {}) {
  const facts: KeyFacts = {
    id: '0190f0a0-0000-0000-0000-000000000001',
    environment_id: 7,
    organization_id: '0190f0a0-0000-0000-0000-000000000002',
    mode: 'live',
    scope: 'write',
    hash: createHash('sha256').update(KEY).digest(),
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
    ...change,
  };
  const time = { nowMs: 1_000_000 };
  const table = { rows: [facts], isAway: false, queries: 0 };
  const uses: KeyUse[] = [];
  let announce: (key: string) => void = () => undefined;
  const store = {
    byHash: async (hash: Buffer) => {
      table.queries += 1;
      if (table.isAway) throw new Error('storage is away');
      const row = table.rows.find((each) => each.hash.equals(hash));
      return row ? { ...row } : null;
    },
  } as unknown as KeysStore;
  const clock = { nowMs: () => time.nowMs } as unknown as Clock;
  const authenticator = new KeyAuthenticator(
    store,
    {
      note: (use: KeyUse) => {
        uses.push(use);
        facts.last_used_at = use.at;
      },
    } as unknown as KeyUsage,
    new CredentialLookupLimiter({ rateLimitKey: null, rateLimitOrg: null } as Config, clock),
    { on: (_topic: string, listener: (key: string) => void) => (announce = listener) } as unknown as Notifications,
    clock,
  );
  return { authenticator, facts, time, table, uses, announce: (key: string) => announce(key) };
}

describe('KeyAuthenticator', () => {
  it('returns the caller of a key', async () => {
    const { authenticator, facts } = arrange();

    expect(await authenticator.authenticate(KEY)).toEqual({
      tenant: { environmentId: 7, organizationId: facts.organization_id, mode: 'live' },
      keyId: facts.id,
      scope: 'write',
    });
  });

  it('queries the database once for a known key, and once for a key that does not exist', async () => {
    const { authenticator, table } = arrange();

    for (let i = 0; i < 3; i += 1) {
      expect(await authenticator.authenticate(KEY)).not.toBeNull();
      expect(await authenticator.authenticate(OTHER)).toBeNull();
    }

    expect(table.queries).toBe(2);
  });

  it.each(['', 'ek_live_', `${KEY}-`, `${KEY}\n`, KEY.replace('live', 'prod'), 'a'.repeat(500)])(
    'rejects %j without querying the database',
    async (bearer) => {
      const { authenticator, table } = arrange();

      expect(await authenticator.authenticate(bearer)).toBeNull();
      expect(table.queries).toBe(0);
    },
  );

  it('rejects a revoked key', async () => {
    const { authenticator } = arrange({ revoked_at: new Date(1) });

    expect(await authenticator.authenticate(KEY)).toBeNull();
  });

  it('rejects a key from its expiry on, to the millisecond, without another query', async () => {
    const { authenticator, time, table } = arrange({ expires_at: new Date(1_001_000) });

    time.nowMs = 1_000_999;
    expect(await authenticator.authenticate(KEY)).not.toBeNull();
    time.nowMs = 1_001_000;
    expect(await authenticator.authenticate(KEY)).toBeNull();
    expect(table.queries).toBe(1);
  });

  it('invalidates a key when its change is announced, and all keys when notifications were missed', async () => {
    for (const announced of [createHash('sha256').update(KEY).digest('hex'), '*']) {
      const { authenticator, facts, announce } = arrange();
      await authenticator.authenticate(KEY);

      facts.revoked_at = new Date(2);
      announce(announced);

      expect(await authenticator.authenticate(KEY)).toBeNull();
    }
  });

  it('queries again after five seconds even if no notification arrives', async () => {
    const { authenticator, facts, time } = arrange();
    await authenticator.authenticate(KEY);

    facts.revoked_at = new Date(2);
    time.nowMs += 5_000;

    expect(await authenticator.authenticate(KEY)).toBeNull();
  });

  it('throws while the database is unavailable, and does not cache the error', async () => {
    const { authenticator, table } = arrange();

    table.isAway = true;
    await expect(authenticator.authenticate(KEY)).rejects.toThrow('storage is away');
    table.isAway = false;

    expect(await authenticator.authenticate(KEY)).not.toBeNull();
  });

  it('records a use at most once a minute', async () => {
    const { authenticator, time, uses } = arrange({ last_used_at: new Date(1_000_000 - 30_000) });

    for (let second = 0; second < 120; second += 1) {
      await authenticator.authenticate(KEY);
      time.nowMs += 1_000;
    }

    expect(uses.map(({ at }) => at.getTime())).toEqual([1_000_000 + 30_000, 1_000_000 + 90_000]);
  });
});
