import { presetOf, PRESETS } from '#engine/inbound/presets.js';
import {
  changed as changedWith,
  DEFAULT_SETTINGS,
  proxyInForce,
  type Settings,
  type SettingsChanges,
  transformInForce,
} from './endpoint-settings.js';

const changed = (before: Settings, changes: SettingsChanges): ReturnType<typeof changedWith> =>
  changedWith(before, changes, presetOf);

const NEW: Settings = { ...DEFAULT_SETTINGS, name: 'stripe' };
const RULES = { rules: [{ when: { type: 'method', op: 'eq', value: 'GET' }, respond: { status: 204 } }] };
const FULL: Settings = {
  name: 'Payments',
  preset: 'stripe',
  verification: 'hmac-sha256',
  verificationConfig: { header: 'x-a' },
  responseRules: RULES,
  responseProxy: { target: 'managed', code: 'export default () => ({})' },
  transform: { engine: 'url', url: 'https://example.com/t', failMode: 'open' },
  allowedMethods: ['POST'],
  deduplicate: { source: 'provider_id' },
  maxBodyBytes: 26_214_400,
  response: { type: 'ebay-challenge', verificationToken: 'token', endpointUrl: 'https://example.com/e' },
};

const pathsOf = (changes: SettingsChanges, before = NEW): string[] =>
  changed(before, changes).faults.map(({ path }) => path);

describe('changed', () => {
  it('keeps omitted fields', () => {
    expect(changed(FULL, {})).toEqual({ settings: FULL, faults: [] });
  });

  it.each<[SettingsChanges]>([
    [{ name: 'Other' }],
    [{ preset: 'github' }],
    [{ verificationConfig: { prefix: 'v0=' } }],
    [{ responseRules: { default: { status: 202 } } }],
    [{ responseProxy: { target: 'url', url: 'https://example.com/p' } }],
    [{ transform: { engine: 'managed', code: 'export default (e) => e' } }],
    [{ response: { type: 'static', status: 202 } }],
    [{ allowedMethods: ['GET', 'POST'] }],
    [{ deduplicate: { source: 'header', name: 'x-id', window_hours: 1 } }],
    [{ maxBodyBytes: 1 }],
  ])('applies %j and changes nothing else', (changes) => {
    expect(changed(FULL, changes)).toEqual({ settings: { ...FULL, ...changes }, faults: [] });
  });

  it('null clears fields', () => {
    const nulls = {
      preset: null,
      verification: null,
      verificationConfig: null,
      responseRules: null,
      responseProxy: null,
      transform: null,
      response: null,
      allowedMethods: null,
      maxBodyBytes: null,
      deduplicate: null,
    };

    expect(changed(FULL, nulls)).toEqual({ settings: { ...DEFAULT_SETTINGS, name: 'Payments' }, faults: [] });
    expect(changed(NEW, nulls)).toEqual({ settings: NEW, faults: [] });
  });

  it('normalizes URLs', () => {
    const { settings } = changed(NEW, {
      responseProxy: { target: 'url', url: 'HTTPS://Example.com:443/a/../b' },
      transform: { engine: 'url', url: 'no url' },
    });

    expect([settings.responseProxy?.url, settings.transform?.url]).toEqual(['https://example.com/b', 'no url']);
  });
});

describe('verification', () => {
  const after = (before: Partial<Settings>, changes: SettingsChanges): string =>
    changed({ ...NEW, ...before }, changes).settings.verification;

  it.each<[Partial<Settings>, SettingsChanges, string]>([
    [{}, {}, 'none'],
    [{}, { preset: 'stripe' }, 'preset'],
    [{}, { preset: 'stripe', verification: null }, 'preset'],
    [{}, { preset: 'stripe', verification: 'stripe' }, 'preset'],
    [{}, { preset: 'stripe', verification: 'preset' }, 'preset'],
    [{}, { preset: 'stripe', verification: 'none' }, 'none'],
    [{}, { preset: 'stripe', verification: 'hmac-sha1' }, 'hmac-sha1'],
    [{}, { verification: 'hmac-sha512' }, 'hmac-sha512'],
    [{ preset: 'stripe', verification: 'preset' }, {}, 'preset'],
    [{ preset: 'stripe', verification: 'preset' }, { preset: 'github' }, 'preset'],
    [{ preset: 'stripe', verification: 'preset' }, { preset: null }, 'none'],
    [{ preset: 'stripe', verification: 'preset' }, { verification: 'none' }, 'none'],
    [{ preset: 'stripe', verification: 'none' }, { preset: 'github' }, 'none'],
    [{ preset: 'stripe', verification: 'none' }, { verification: null }, 'preset'],
    [{ preset: 'stripe', verification: 'hmac-sha256' }, { preset: null }, 'hmac-sha256'],
    [{ verification: 'hmac-sha256' }, { preset: 'stripe' }, 'hmac-sha256'],
    [{ verification: 'hmac-sha256' }, { verification: null }, 'none'],
  ])('of %j with %j is %s', (before, changes, expected) => {
    expect(after(before, changes)).toBe(expected);
    expect(pathsOf(changes, { ...NEW, ...before })).toEqual([]);
  });

  it.each(['preset', 'stripe', 'github', 'hmac-md5', 'HMAC-SHA256', '', '__proto__'])(
    '%j alone is refused',
    (verification) => {
      expect(pathsOf({ verification })).toEqual(['verification']);
      expect(pathsOf({ verification: 'github', preset: 'stripe' })).toEqual(['verification']);
    },
  );

  it.each(['nobody', '', 'Stripe', '__proto__', 'constructor'])('the preset %j is rejected', (preset) => {
    expect(pathsOf({ preset })).toEqual(['preset']);
  });

  it('accepts every preset, also by its own name', () => {
    for (const preset of PRESETS.keys()) expect(pathsOf({ preset, verification: preset })).toEqual([]);
  });

  it('only HMAC schemes have settings, and removing the scheme removes them', () => {
    expect(pathsOf({ verificationConfig: { header: 'x-a' } })).toEqual(['verificationConfig']);
    expect(pathsOf({ verificationConfig: {}, preset: 'stripe' })).toEqual(['verificationConfig']);
    expect(pathsOf({ verificationConfig: { header: 'x a', colour: 'red' }, verification: 'hmac-sha1' })).toEqual([
      'verificationConfig.header',
      'verificationConfig.colour',
    ]);
    expect(changed(FULL, { verification: 'hmac-sha1' }).settings.verificationConfig).toEqual({ header: 'x-a' });
    expect(changed(FULL, { verification: 'preset' }).settings.verificationConfig).toBeNull();
  });
});

describe('response', () => {
  const before: Settings = { ...NEW, response: { type: 'zoom-challenge', secret: 'kept', status: 202 } };
  const after = (response: Settings['response']): Settings['response'] =>
    changed(before, { response }).settings.response;

  it('keeps omitted secrets if the type stays the same, and nothing else', () => {
    expect(after({ type: 'zoom-challenge' })).toEqual({ type: 'zoom-challenge', secret: 'kept' });
    expect(after({ type: 'zoom-challenge', secret: 'new' })).toEqual({ type: 'zoom-challenge', secret: 'new' });
    expect(after({ type: 'x-crc' })).toEqual({ type: 'x-crc' });
    expect(after({ type: 'static', body: 'ok' })).toEqual({ type: 'static', body: 'ok' });
  });

  it('requires the secrets of its type only if none are stored', () => {
    expect(pathsOf({ response: { type: 'meta-challenge' } })).toEqual(['response.verifyToken']);
    expect(
      pathsOf(
        { response: { type: 'meta-challenge' } },
        { ...NEW, response: { type: 'meta-challenge', verifyToken: 'kept' } },
      ),
    ).toEqual([]);
    expect(pathsOf({ response: { type: 'static', status: 204, body: 'a', headers: { connection: 'close' } } })).toEqual(
      ['response.headers.connection', 'response.body'],
    );
  });

  it('is not validated by a change of something else', () => {
    expect(pathsOf({ name: 'b' }, { ...NEW, response: { type: 'meta-challenge' } })).toEqual([]);
  });
});

describe('rules, proxies and transforms', () => {
  it.each<[SettingsChanges, string]>([
    [
      { responseRules: { rules: [{ when: { type: 'methud', op: 'eq' }, respond: {} }] } },
      'responseRules.rules.0.when.type',
    ],
    [{ responseRules: { rules: [{ when: { all: [] }, respond: {} }] } }, 'responseRules.rules.0.when.all'],
    [{ responseRules: { default: { status: 100 } } }, 'responseRules.default.status'],
    [{ responseRules: { fallback: {} } }, 'responseRules.fallback'],
    [{ responseProxy: { target: 'managed' } }, 'responseProxy.code'],
    [{ responseProxy: { target: 'url' } }, 'responseProxy.url'],
    [{ responseProxy: { target: 'url', url: 'https://example.com/', code: '' } }, 'responseProxy.code'],
    [{ transform: { engine: 'managed' } }, 'transform.code'],
    [{ transform: { engine: 'url' } }, 'transform.url'],
    [{ transform: { engine: 'managed', code: '', url: '' } }, 'transform.url'],
  ])('%j is refused at %s', (changes, path) => {
    expect(pathsOf(changes)).toEqual([path]);
  });

  it('are returned with their defaults', () => {
    expect(proxyInForce({ target: 'managed', code: 'c' })).toEqual({
      target: 'managed',
      code: 'c',
      timeoutMs: 250,
      onUnavailable: 'fallback',
    });
    expect(proxyInForce({ target: 'url', timeoutMs: 50, onUnavailable: 'error' })).toEqual({
      target: 'url',
      timeoutMs: 50,
      onUnavailable: 'error',
    });
    expect(transformInForce({ engine: 'url', url: 'u' })).toEqual({
      engine: 'url',
      url: 'u',
      timeoutMs: 3000,
      failMode: 'closed',
    });
    expect(transformInForce({ engine: 'managed', failMode: 'open' })).toEqual({
      engine: 'managed',
      timeoutMs: 250,
      failMode: 'open',
    });
  });
});
