import { readFileSync } from 'node:fs';
import path from 'node:path';
import { auditDe } from '../kit/messages/de/audit';
import { auditEn } from '../kit/messages/en/audit';
import { actionLabel, ACTIONS, namesIn, sentenceKey, splitSentence } from './audit-sentence';

const ROOT = path.join(import.meta.dirname, '../../..');
const DOCUMENT = readFileSync(path.join(ROOT, 'src/client/openapi.ts'), 'utf8');

/** Operations that the audit log does not record: traffic, calls that change nothing, and calls without a key. */
const NOT_AUDITED = [
  'POST /mcp',
  'POST /oauth/device',
  'POST /oauth/register',
  'POST /oauth/revoke',
  'POST /oauth/token',
  'POST /v1/send',
  'POST /v1/app/:app/event',
  'POST /v1/app/:app/endpoints/check',
  'POST /v1/destinations/check',
  'POST /v1/emails',
  'POST /v1/emails/batch',
  'POST /v1/endpoints/:id/trial',
  'POST /v1/providers/ses/notifications',
  'POST /v1/pull/:endpoint/ack',
  'POST /v1/templates/:id/render',
  'DELETE /v1/session',
];

/** Actions that are not API calls. The code that records them is outside of the controllers. */
const WORDS = [
  ['src/modules/sign-in/sign-in-audit.ts', 'sign-in.succeeded', 'sign-in.failed', 'sign-out'],
  ['src/modules/sign-in/sign-in-audit.ts', 'member.provisioned', 'member.role_followed'],
  ['src/modules/agents/grant-audit.ts', 'oauth.granted', 'oauth.revoked', 'oauth.code_reused'],
  ['src/programs/orgs.ts', 'posthorn orgs create', 'posthorn orgs remove'],
  ['src/programs/confirm-clock.ts', 'posthorn confirm-clock'],
] as const;

/** Returns the operations of the API that may change data, as the audit log names them. */
function changingOperations(): string[] {
  const paths = DOCUMENT.slice(DOCUMENT.indexOf('export interface paths'), DOCUMENT.indexOf('export type webhooks'));
  return [...paths.matchAll(/^ {4}"(\/[^"]*)": \{\n([^]*?)^ {4}\};/gm)].flatMap(([, route = '', body = '']) =>
    [...body.matchAll(/^ {8}(post|put|patch|delete): operations/gm)].map(
      ([, method = '']) => `${method.toUpperCase()} ${route.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
}

describe('the sentences of the audit log', () => {
  it('exist for every action of the API, and for no other', () => {
    const audited = changingOperations().filter((each) => !NOT_AUDITED.includes(each));

    expect(audited.length).toBeGreaterThan(80);
    expect([...ACTIONS].sort()).toEqual([...audited, ...WORDS.flatMap(([, ...words]) => words)].sort());
  });

  it.each(WORDS)('%s records the actions that are not API calls', (file, ...words) => {
    const source = readFileSync(path.join(ROOT, file), 'utf8');

    expect(words.filter((word) => !source.includes(`'${word}'`))).toEqual([]);
  });

  it.each([
    ['en', auditEn],
    ['de', auditDe],
  ])('use the same placeholders in %s', (_, texts) => {
    const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([each]) => each).sort();

    for (const key of Object.keys(auditEn) as (keyof typeof auditEn)[])
      expect([key, ...placeholders(texts[key])]).toEqual([key, ...placeholders(auditEn[key])]);
  });
});

describe('sentenceKey', () => {
  it.each([
    ['PATCH /v1/destinations/:id', { name: 'New' }, 'audit.do.PATCH /v1/destinations/:id'],
    ['PATCH /v1/destinations/:id', { status: 'disabled' }, 'audit.do.PATCH /v1/destinations/:id#disabled'],
    ['PATCH /v1/destinations/:id', { status: 'active' }, 'audit.do.PATCH /v1/destinations/:id#enabled'],
    ['PATCH /v1/members/:id', { status: 'active' }, 'audit.do.PATCH /v1/members/:id'],
    ['POST /v1/keys', null, 'audit.do.POST /v1/keys'],
    ['POST /v1/of-an-extension', null, 'audit.do.other'],
  ])('%s with %j: %s', (action, after, key) => {
    expect(sentenceKey({ action, before: null, after })).toBe(key);
  });

  it.each<[action: string, before: object | null, after: object | null, key: string]>([
    ['/v1/destinations/:id', { name: 'A', version: 1 }, { name: 'B', version: 2 }, '/v1/destinations/:id#renamed'],
    ['/v1/org', { name: 'A' }, { name: 'B' }, '/v1/org#renamed'],
    ['/v1/destinations/:id', { name: 'A', url: 'x' }, { name: 'B', url: 'y' }, '/v1/destinations/:id'],
    ['/v1/members/:id', { name: '' }, { name: 'B' }, '/v1/members/:id'],
    ['/v1/domains/:id', { name: 'A' }, { name: 'B' }, '/v1/domains/:id'],
    ['/v1/topics/:id', null, { name: 'B' }, '/v1/topics/:id'],
  ])('PATCH %s from %j to %j: %s', (route, before, after, key) => {
    const entry = { action: `PATCH ${route}`, before, after } as Parameters<typeof sentenceKey>[0];

    expect(sentenceKey(entry)).toBe(`audit.do.PATCH ${key}`);
  });
});

describe('splitSentence', () => {
  it.each([
    ['{actor} signed in', [{ value: 'actor' }, { text: ' signed in' }]],
    [
      '{actor} hat Ziel {name} erstellt',
      [{ value: 'actor' }, { text: ' hat Ziel ' }, { value: 'name' }, { text: ' erstellt' }],
    ],
  ])('%s', (text, parts) => {
    expect(splitSentence(text)).toEqual(parts);
  });
});

describe('actionLabel', () => {
  it.each([
    ['{actor} created destination {name}', 'Created destination'],
    ['{actor} hat das Ziel {name} erstellt', 'Ziel … erstellt'],
    ['{actor} hat sich angemeldet', 'Sich angemeldet'],
    ['An agent revoked its access key {name}', 'An agent revoked its access key'],
  ])('%s: %s', (sentence, label) => {
    expect(actionLabel(sentence)).toBe(label);
  });
});

describe('namesIn', () => {
  const entry = (id: string | null, after: Record<string, unknown> | null, before: typeof after = null) => ({
    action: 'POST /v1/x',
    resource_id: id,
    before,
    after,
  });

  it.each([
    ['the newest of two names', [entry('dst_1', { name: 'New' }), entry('dst_1', { name: 'Old' })], { dst_1: 'New' }],
    ['the name of a deleted resource', [entry('dst_1', null, { name: 'Gone' })], { dst_1: 'Gone' }],
    ['an address', [entry('al_1', { address: 'ada@example.com' })], { al_1: 'ada@example.com' }],
    [
      'the URL of an endpoint without a description',
      [entry('ep_1', { description: '', url: 'https://a.b' })],
      {
        ep_1: 'https://a.b',
      },
    ],
    ['no URL of another resource', [entry('pls_1', { url: 'https://a.b' })], {}],
    ['nothing of another resource', [entry('ep_1', { id: 'msg_1', name: 'Other' })], {}],
    ['nothing for entries without a resource', [entry(null, { name: 'x' }), entry('dst_1', null)], {}],
  ])('%s', (_, entries, names) => {
    expect(Object.fromEntries(namesIn(entries))).toEqual(names);
  });
});
