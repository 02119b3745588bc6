import fc from 'fast-check';
import { RequestView } from '../conditions/request-view.js';
import { compileDeduplication, deduplicationFaults, type DeduplicationSettings } from './deduplication.js';
import { takesMethod } from './methods.js';
import { presetOf, PRESETS } from './presets.js';

const idOf = (
  settings: DeduplicationSettings,
  { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string },
  preset = '',
): string | null => {
  const request = {
    method: 'POST',
    url: '',
    path: '',
    query: '',
    headers: Object.entries(headers),
    body: Buffer.from(body),
    ip: '127.0.0.1',
  };
  return compileDeduplication(settings, presetOf(preset)).idOf(new RequestView(request, 'none'));
};

describe('deduplication ids', () => {
  it.each<[string, string | null]>([
    ['"a"', 'a'],
    ['"Zoë 😀"', 'Zoë 😀'],
    ['1', '1'],
    ['1.50', '1.5'],
    ['12345678901234567890', '12345678901234567890'],
    ['"12345678901234567890"', '12345678901234567890'],
    ['""', null],
    ['null', null],
    ['true', null],
    ['{}', null],
    ['[]', null],
    ['"a\\nb"', null],
    ['"a\\u0000"', null],
    ['"\\ud800"', null],
    [JSON.stringify('a'.repeat(1024)), 'a'.repeat(1024)],
    [JSON.stringify('a'.repeat(1025)), null],
  ])('body_path: %s is %j', (value, id) => {
    expect(idOf({ source: 'body_path', path: '$.a.id' }, { body: `{"a":{"id":${value}}}` })).toBe(id);
  });

  it.each(['', 'no json', '[]', '{"b":1}'])('body_path: nothing of %j', (body) => {
    expect(idOf({ source: 'body_path', path: '$.a.id' }, { body })).toBeNull();
  });

  it('body_path: uses the first of several nodes', () => {
    expect(idOf({ source: 'body_path', path: '$.items[*].id' }, { body: '{"items":[{},{"id":"b"},{"id":"c"}]}' })).toBe(
      'b',
    );
  });

  it('header: ignores the case of the name, and an empty or different header gives no id', () => {
    expect(idOf({ source: 'header', name: 'X-Id' }, { headers: { 'x-id': 'a' } })).toBe('a');
    expect(idOf({ source: 'header', name: 'x-id' }, { headers: { 'x-id': '' } })).toBeNull();
    expect(idOf({ source: 'header', name: 'x-id' }, { headers: { 'x-ids': 'a' } })).toBeNull();
  });

  it('provider_id: works for every preset whose provider sends an id, and is rejected for the others', () => {
    expect(idOf({ source: 'provider_id' }, { body: '{"id":"evt_1"}' }, 'stripe')).toBe('evt_1');
    for (const preset of PRESETS.values()) {
      expect(deduplicationFaults({ source: 'provider_id' }, preset, 'at').map(({ path }) => path)).toEqual(
        preset.dedupeId.length === 0 ? ['at.source'] : [],
      );
    }
  });

  it('different sources have different scopes, regardless of the case of a header name', () => {
    const scope = (settings: DeduplicationSettings): string => compileDeduplication(settings, null).scope;

    const scopes = [
      scope({ source: 'provider_id' }),
      scope({ source: 'header', name: 'a' }),
      scope({ source: 'header', name: 'b' }),
      scope({ source: 'body_path', path: '$.a' }),
    ];

    expect(new Set(scopes).size).toBe(scopes.length);
    expect(scope({ source: 'header', name: 'A' })).toBe(scopes[1]);
  });

  it('the window is one day by default', () => {
    expect(compileDeduplication({ source: 'provider_id' }, null).windowMs).toBe(86_400_000);
    expect(compileDeduplication({ source: 'provider_id', window_hours: 1 }, null).windowMs).toBe(3_600_000);
  });

  it('never throws for any body, and returns the same id for the same request', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (body) => {
        const settings = { source: 'body_path', path: '$.*.id' } as const;

        expect(idOf(settings, { body })).toBe(idOf(settings, { body }));
      }),
    );
  });
});

describe('methods', () => {
  it.each<[string[] | null, string, boolean]>([
    [null, 'POST', true],
    [['POST'], 'POST', true],
    [['POST'], 'GET', false],
    [['GET'], 'HEAD', false],
  ])('of %j %s: %s', (allowed, method, isTaken) => {
    expect(takesMethod(allowed, method)).toBe(isTaken);
  });
});
