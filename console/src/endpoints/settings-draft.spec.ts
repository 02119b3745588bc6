import type { EndpointDetail } from './endpoint-queries';
import { changesOf, settingsDraftOf, urlOnHost } from './settings-draft';
import { draftOf, settingsOf } from './transform-draft';

const DETAIL = {
  name: 'Orders',
  url: 'https://example.com/in/acme/orders',
  preset: null,
  verification: 'hmac-sha256',
  verificationConfig: { header: 'x-a' },
  allowed_methods: ['POST'],
  deduplicate: { source: 'header', name: 'x-id', window_hours: 24 },
  max_body_bytes: 1_048_576,
} as unknown as EndpointDetail;

describe('settings of an endpoint', () => {
  it('unchanged settings are written back as read, and an unchanged URL is not sent', () => {
    expect(changesOf(settingsDraftOf(DETAIL), '')).toEqual({
      changes: {
        name: 'Orders',
        preset: null,
        verification: 'hmac-sha256',
        verificationConfig: { header: 'x-a' },
        allowed_methods: ['POST'],
        deduplicate: { source: 'header', name: 'x-id', window_hours: 24 },
      },
      fault: null,
    });
  });

  it.each([
    [{ verification: 'none', verificationConfig: 'no JSON' }, { verification: 'none' }],
    [{ methods: [] }, { allowed_methods: null }],
    [{ duplicates: '' as const }, { deduplicate: null }],
    [
      { duplicates: 'body_path' as const, duplicatesBy: '$.id', duplicatesHours: '' },
      { deduplicate: { source: 'body_path', path: '$.id' } },
    ],
    [{ limit: '2', limitUnit: 'MB' as const }, { max_body_bytes: 2_097_152 }],
    [{ limit: '' }, { max_body_bytes: null }],
    [{ url: 'https://example.com/in/acme/new' }, { url: 'https://example.com/in/acme/new' }],
  ])('%j is %j', (draft, changes) => {
    expect(changesOf({ ...settingsDraftOf(DETAIL), ...draft }, '').changes).toMatchObject(changes);
  });

  it.each([
    ['{', { line: 1 }],
    ['[]', { line: 1, message: 'no object' }],
    ['{\n"toleranceSeconds": 9007199254740993}', { line: 2, number: '9007199254740993' }],
  ])('invalid settings %j are reported with their line', (verificationConfig, fault) => {
    expect(changesOf({ ...settingsDraftOf(DETAIL), verificationConfig }, 'no object').fault).toMatchObject(fault);
  });
});

describe('urlOnHost', () => {
  it.each([
    ['https://a.example/in/acme/x/y', 'https://a.example/in/acme/', 'https://b.example/', 'https://b.example/x/y'],
    ['https://b.example/x', 'https://b.example/', 'https://a.example/in/acme/', 'https://a.example/in/acme/x'],
    ['https://c.example/x/y', undefined, 'https://b.example/', 'https://b.example/y'],
  ])('%s moves from %s to %s', (url, before, prefix, moved) => {
    expect(urlOnHost(url, before, prefix)).toBe(moved);
  });
});

describe('a transform', () => {
  it.each([
    [null],
    [{ engine: 'managed', code: 'x', failMode: 'open', timeoutMs: 100 }],
    [{ engine: 'url', url: 'https://example.com', failMode: 'closed' }],
  ] as const)('%j is written back unchanged', (settings) => {
    expect(settingsOf(draftOf(settings))).toEqual(settings);
  });
});
