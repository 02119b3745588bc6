import { hash } from 'node:crypto';
import { CredentialLookupLimiter } from '#http/credential-lookup-limiter.js';
import { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import type { Keyring } from '#kernel/crypto/keyring.js';
import type { Database } from '#kernel/database/database.js';
import type { Notifications } from '#kernel/database/notifications.js';
import type { Ids } from '#kernel/ids.js';
import { sessionCookie } from './session-cookie.js';
import { Sessions } from './sessions.js';
import type { SessionFacts, SessionsStore } from './sessions.store.js';

const TOKEN = 'a'.repeat(43);
const KEY = Buffer.alloc(32, 1);
const { name: NAME } = sessionCookie({ baseUrl: 'http://localhost', key: KEY });
const COOKIE = `${NAME}=${TOKEN}`;
const HOUR_MS = 3_600_000;
const SIGNED_IN_MS = Date.UTC(2026, 10, 22);

class SetClock extends Clock {
  at = SIGNED_IN_MS;
  now(): Date {
    return new Date(this.at);
  }
  nowMs(): number {
    return this.at;
  }
  random(): number {
    return 0;
  }
}

function scene(more: Partial<SessionFacts> = {}) {
  const clock = new SetClock();
  const facts = {
    id: 's',
    organization_id: 'o',
    member_id: 'm',
    email: 'ada@customer.example',
    role: 'read',
    key_id: null,
    key_expires_at: null,
    key_mode: null,
    how: 'code',
    last_seen_at: new Date(SIGNED_IN_MS),
    expires_at: new Date(SIGNED_IN_MS + 7 * 24 * HOUR_MS),
    ...more,
  } as SessionFacts;
  const counted = { loads: 0, touches: 0 };
  const store = {
    byHash: (given: Buffer) => {
      counted.loads += 1;
      return Promise.resolve(given.toString('hex') === hash('sha256', TOKEN) ? facts : null);
    },
    touch: () => {
      counted.touches += 1;
      facts.last_seen_at = clock.now();
      return Promise.resolve();
    },
  };
  const notifications = { on: () => undefined } as unknown as Notifications;
  const sessions = new Sessions(
    store as unknown as SessionsStore,
    {} as Database,
    notifications,
    { baseUrl: 'http://localhost' } as Config,
    {} as Ids,
    clock,
    new CredentialLookupLimiter({ rateLimitKey: null, rateLimitOrg: null } as Config, clock),
    { derived: () => KEY } as unknown as Keyring,
  );
  const isIn = async (): Promise<boolean> => (await sessions.read(COOKIE)) !== null;
  return { clock, sessions, counted, isIn };
}

describe('Sessions', () => {
  it('a session ends after twelve hours without a request', async () => {
    const { clock, isIn } = scene();
    expect(await isIn()).toBe(true);
    clock.at += 12 * HOUR_MS;
    expect(await isIn()).toBe(true);
    clock.at += 12 * HOUR_MS + 1;
    expect(await isIn()).toBe(false);
  });

  it('a session ends after seven days even if it is in use', async () => {
    const { clock, isIn } = scene();
    for (let hours = 0; hours < 7 * 24; hours += 6) {
      expect(await isIn()).toBe(true);
      clock.at += 6 * HOUR_MS;
    }
    expect(await isIn()).toBe(false);
  });

  it('a session ends with the key that opened it', async () => {
    const { clock, isIn } = scene({ key_id: 'k', member_id: null, key_expires_at: new Date(SIGNED_IN_MS + HOUR_MS) });
    clock.at += HOUR_MS - 1;
    expect(await isIn()).toBe(true);
    clock.at += 1;
    expect(await isIn()).toBe(false);
  });

  it('a request is recorded once a minute, and background polling does not count as a request', async () => {
    const { clock, sessions, counted } = scene();
    for (let i = 0; i < 60; i += 1) {
      expect(await sessions.peek(COOKIE)).not.toBeNull();
      clock.at += 60_000;
    }
    expect(counted.touches).toBe(0);

    await sessions.read(COOKIE);
    await sessions.read(COOKIE);

    expect(counted.touches).toBe(1);
  });

  it('a session is queried once in five seconds, and text that is not a token never', async () => {
    const { clock, sessions, counted } = scene();
    for (const cookie of [COOKIE, COOKIE, undefined, '', `${NAME}=short`, `${NAME}=${TOKEN}x`])
      await sessions.read(cookie);
    expect(counted.loads).toBe(1);

    clock.at += 5_000;
    await sessions.read(COOKIE);

    expect(counted.loads).toBe(2);
  });
});
