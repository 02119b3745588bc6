import { DEFAULT_LEGACY_SCHEME } from '#engine/legacy-signature.js';
import {
  changed,
  DEFAULT_SETTINGS,
  failureThreshold,
  movesTarget,
  retryPolicy,
  type Settings,
  type SettingsChanges,
  settingsFaults,
} from './settings.js';

const GIVEN: Settings = {
  name: 'Orders',
  url: 'https://example.com/hook',
  config: { circuit_breaker: { failure_threshold: 3 } },
  headers: { 'X-Tenant': '42' },
  retry: { max_attempts: 2 },
  rateLimit: { per_second: 5 },
  timeoutMs: 500,
  concurrency: 3,
  asymmetric: true,
  legacySignature: { ...DEFAULT_LEGACY_SCHEME, header: 'X-Old' },
  forward: { method: true, path: false, query: true },
};

describe('changed', () => {
  it('keeps omitted fields', () => {
    expect(changed(GIVEN, {})).toEqual(GIVEN);
  });

  it('changes the given fields and no others', () => {
    const changes: SettingsChanges = {
      name: 'Bills',
      url: 'https://example.com/b',
      config: { a: 1 },
      headers: { b: 'c' },
      retry: { schedule: [0], max_attempts: 2 },
      rateLimit: { per_second: 1 },
      timeoutMs: 700,
      concurrency: 4,
      asymmetric: false,
      legacySignature: { ...DEFAULT_LEGACY_SCHEME, header: 'X-Older' },
      forward: { method: false, path: true, query: false },
    };

    for (const [name, value] of Object.entries(changes)) {
      expect(changed(GIVEN, { [name]: value })).toEqual({ ...GIVEN, [name]: value });
    }
  });

  it('omitted members of forward keep their value, and start with the default', () => {
    expect(changed(GIVEN, { forward: { path: true } }).forward).toEqual({ method: true, path: true, query: true });
    expect(changed({ ...GIVEN, forward: null }, { forward: { path: true } }).forward).toEqual({
      method: false,
      path: true,
      query: true,
    });
  });

  it('null restores the default', () => {
    const cleared = changed(GIVEN, {
      url: null,
      config: null,
      headers: null,
      retry: null,
      rateLimit: null,
      timeoutMs: null,
      concurrency: null,
      asymmetric: null,
      legacySignature: null,
      forward: null,
    });

    expect(cleared).toEqual({ ...DEFAULT_SETTINGS, name: 'Orders' });
  });

  it.each<[SettingsChanges['retry'], Settings['retry']]>([
    [{ schedule: [0, 60] }, { max_attempts: 2, schedule: [0, 60] }],
    [{ max_attempts: 3 }, { max_attempts: 3 }],
    [{}, { max_attempts: 2 }],
    [null, null],
    [undefined, { max_attempts: 2 }],
  ])('retry %j keeps the omitted member', (retry, expected) => {
    expect(changed(GIVEN, { retry }).retry).toEqual(expected);
  });

  it.each<[string, Settings['retry'], SettingsChanges['retry'], Settings['retry']]>([
    ['a policy replaces numbers', { max_attempts: 2, schedule: [0] }, { policy: 'patient' }, { policy: 'patient' }],
    ['null removes a policy', { policy: 'patient' }, { policy: null, max_attempts: 3 }, { max_attempts: 3 }],
    ['null keeps numbers', { max_attempts: 2 }, { policy: null }, { max_attempts: 2 }],
    ['an omitted policy stays', { policy: 'patient' }, {}, { policy: 'patient' }],
  ])('of retry: %s', (_title, before, retry, after) => {
    expect(changed({ ...GIVEN, retry: before }, { retry }).retry).toEqual(after);
    expect(settingsFaults({ ...GIVEN, retry: after })).toEqual([]);
  });

  it.each<[Settings['retry'], SettingsChanges['retry']]>([
    [null, { policy: 'patient', max_attempts: 3 }],
    [null, { policy: 'patient', schedule: [0] }],
    [{ policy: 'patient' }, { max_attempts: 3 }],
    [{ max_attempts: 3 }, { policy: 'patient', max_attempts: 3 }],
  ])('rejects a combination of policy and numbers: stored %j, given %j', (before, retry) => {
    const faults = settingsFaults(changed({ ...GIVEN, retry: before }, { retry }));

    expect(faults).toEqual([{ path: 'retry.policy', message: expect.stringMatching(/^has numbers of its own/) }]);
  });

  it.each([
    ['https://EXAMPLE.com:443/a/../b', 'https://example.com/b'],
    ['https://example.com', 'https://example.com/'],
    ['https://0x7f000001/', 'https://127.0.0.1/'],
    ['not a url', 'not a url'],
  ])('normalizes the URL %s', (given, kept) => {
    expect(changed(GIVEN, { url: given }).url).toBe(kept);
  });
});

describe('movesTarget', () => {
  it.each<[string, SettingsChanges, boolean]>([
    ['nothing', {}, false],
    ['the name', { name: 'x' }, false],
    ['headers, retry, rate limit and time-out', { headers: {}, retry: null, rateLimit: null, timeoutMs: 100 }, false],
    ['the circuit breaker', { config: {} }, false],
    ['the same URL in another spelling', { url: 'https://EXAMPLE.com/hook' }, false],
    ['the URL', { url: 'https://example.com/other' }, true],
    ['a setting of the type', { config: { queue: 'a' } }, true],
    ['the forwarded path', { forward: { path: true } }, true],
    ['the forwarded query, and forward itself', { forward: null }, false],
  ])('change of %s: %j needs a new probe: %s', (_what, changes, expected) => {
    expect(movesTarget(GIVEN, changed(GIVEN, changes))).toBe(expected);
  });
});

describe('settingsFaults', () => {
  const pathsOf = (changes: SettingsChanges): string[] =>
    settingsFaults(changed(GIVEN, changes)).map(({ path }) => path);

  it('reports nothing for valid settings', () => {
    expect(pathsOf({})).toEqual([]);
    expect(pathsOf({ config: { circuit_breaker: null } })).toEqual([]);
    expect(pathsOf({ headers: { a: 'Bearer {{ secrets.TOKEN }}' } })).toEqual([]);
    expect(pathsOf({ config: { circuit_breaker: { failure_threshold: 1000 } } })).toEqual([]);
  });

  it.each<[SettingsChanges, string]>([
    [{ headers: { 'webhook-id': 'mine' } }, 'headers.webhook-id'],
    [{ config: { circuit_breaker: 5 } }, 'config.circuit_breaker'],
    [{ config: { circuit_breaker: [] } }, 'config.circuit_breaker'],
    [{ config: { circuit_breaker: { treshold: 5 } } }, 'config.circuit_breaker.treshold'],
    ...[0, 1001, 1.5, '5', null].map((threshold): [SettingsChanges, string] => [
      { config: { circuit_breaker: { failure_threshold: threshold } } },
      'config.circuit_breaker.failure_threshold',
    ]),
  ])('refuses %j', (changes, path) => {
    expect(pathsOf(changes)).toEqual([path]);
  });
});

describe('failureThreshold and retryPolicy', () => {
  it('a circuit opens after the given number of failures, ten by default', () => {
    expect(failureThreshold({})).toBe(10);
    expect(failureThreshold({ circuit_breaker: null })).toBe(10);
    expect(failureThreshold({ circuit_breaker: {} })).toBe(10);
    expect(failureThreshold({ circuit_breaker: { failure_threshold: 3 } })).toBe(3);
  });

  it.each([
    [null, 8, 8],
    [{}, 8, 8],
    [{ max_attempts: 3 }, 3, 8],
    [{ schedule: [0, 60] }, 2, 2],
    [{ max_attempts: 5, schedule: [0, 60] }, 5, 2],
  ])('retry %j means %i attempts and %i schedule steps', (retry, maxAttempts, steps) => {
    const policy = retryPolicy(retry);

    expect([policy.maxAttempts, policy.scheduleSeconds.length]).toEqual([maxAttempts, steps]);
  });
});
