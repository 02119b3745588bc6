import { type Author, authorOf, isAutoSubmitted } from './author.js';
import { authOf, bestOf, dependsOnDns, dnsRetryDelayMs, type Judged, quarantineReason } from './mail-verdicts.js';
import { fieldsOf } from './message-head.js';

const fields = (head: string) => fieldsOf(Buffer.from(`${head}\r\n\r\n`));
const ADA: Author = { kind: 'one', address: 'ada@b.example' };
const judged = (changes: Partial<Judged>): Judged => ({
  author: ADA,
  auth: 'pass',
  verdicts: { dmarc: 'pass', dmarcPolicy: 'reject', virus: 'disabled' },
  sizeBytes: 10,
  reason: null,
  alias: { allowedSenders: [], maxSizeBytes: null },
  ...changes,
});

describe('whom a message says it is from', () => {
  it.each<[string, Author]>([
    ['From: Ada <ada@b.example>', ADA],
    ['Subject: x', { kind: 'missing' }],
    ['From: ', { kind: 'missing' }],
    ['From: ada@b.example\r\nFrom: boss@bank.example', { kind: 'several' }],
    ['From: ada@b.example, boss@bank.example', { kind: 'several' }],
    ['From: ada@b.example <boss@bank.example>', { kind: 'one', address: 'boss@bank.example' }],
    ['From: "ada@b.example" <boss@bank.example>', { kind: 'one', address: 'boss@bank.example' }],
    ['From: <ada@b.example> <boss@bank.example>', { kind: 'several' }],
    ['From: team: ada@b.example, boss@bank.example;', { kind: 'several' }],
    ['From: nobody', { kind: 'several' }],
  ])('%j', (head, expected) => {
    expect(authorOf(fields(head))).toEqual(expected);
  });

  it.each([
    ['Auto-Submitted: auto-replied', true],
    ['Auto-Submitted: no', false],
    ['Precedence: bulk', true],
    ['X-Autoreply: yes', true],
    ['Subject: x', false],
  ])('%s: sent by a machine: %s', (head, expected) => {
    expect(isAutoSubmitted(fields(head))).toBe(expected);
  });
});

describe('what is made of the verdicts', () => {
  it('the best of several signatures counts', () => {
    expect([bestOf(['fail', 'pass']), bestOf(['neutral', 'temperror']), bestOf(['neutral']), bestOf([])]).toEqual([
      'pass',
      'temperror',
      'neutral',
      'none',
    ]);
  });

  it.each([
    ['pass', 'pass'],
    ['fail', 'fail'],
    ['none', 'none'],
    ['temperror', 'none'],
    ['permerror', 'none'],
  ] as const)('DMARC %s is auth %s', (dmarc, auth) => {
    expect([authOf(dmarc, ADA), authOf(dmarc, { kind: 'several' }), authOf(dmarc, { kind: 'missing' })]).toEqual([
      auth,
      'fail',
      'none',
    ]);
  });

  it.each<[string, Partial<Judged>, string | null]>([
    ['nothing', {}, null],
    ['a virus', { verdicts: { dmarc: 'none', dmarcPolicy: null, virus: 'fail' } }, 'virus'],
    ['what the door said', { reason: 'too_large' }, 'too_large'],
    ['its size', { sizeBytes: 11, alias: { allowedSenders: [], maxSizeBytes: 10 } }, 'too_large'],
    ['no author', { author: { kind: 'missing' }, auth: 'none' }, 'from_missing'],
    ['several authors', { author: { kind: 'several' }, auth: 'fail' }, 'from_ambiguous'],
    ['DMARC, where its domain asks for that', { auth: 'fail' }, 'dmarc_failed'],
    [
      'DMARC, where its domain does not',
      { auth: 'fail', verdicts: { dmarc: 'fail', dmarcPolicy: 'none', virus: 'pass' } },
      null,
    ],
    ['a sender that is listed', { alias: { allowedSenders: ['@b.example'], maxSizeBytes: null } }, null],
    [
      'one that is not',
      { alias: { allowedSenders: ['@c.example', '*.b.example'], maxSizeBytes: null } },
      'sender_not_allowed',
    ],
    [
      'a listed one that nobody can tell',
      { auth: 'none', alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null } },
      null,
    ],
    [
      'a listed one that is not who he says',
      {
        auth: 'fail',
        verdicts: { dmarc: 'fail', dmarcPolicy: 'none', virus: 'pass' },
        alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null },
      },
      'sender_not_allowed',
    ],
    [
      'a temporary error of DNS: nothing (RFC 7489, section 6.6.2)',
      { auth: 'none', verdicts: { dmarc: 'temperror', dmarcPolicy: 'reject', virus: 'disabled' } },
      null,
    ],
    [
      'a temporary error of DNS, where only some may send',
      {
        auth: 'none',
        verdicts: { dmarc: 'temperror', dmarcPolicy: 'reject', virus: 'disabled' },
        alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null },
      },
      'sender_unverified',
    ],
    [
      'a temporary error of DNS, from one who may not send',
      {
        auth: 'none',
        verdicts: { dmarc: 'temperror', dmarcPolicy: null, virus: 'disabled' },
        alias: { allowedSenders: ['@c.example'], maxSizeBytes: null },
      },
      'sender_not_allowed',
    ],
  ])('quarantine for %s', (_why, changes, reason) => {
    expect(quarantineReason(judged(changes))).toBe(reason);
  });
});

describe('name servers that do not answer', () => {
  it('are asked again only where an answer could change what becomes of the message', () => {
    expect([
      dependsOnDns('temperror', null),
      dependsOnDns('temperror', 'sender_unverified'),
      dependsOnDns('temperror', 'virus'),
      dependsOnDns('temperror', 'sender_not_allowed'),
      dependsOnDns('fail', null),
      dependsOnDns('none', null),
    ]).toEqual([true, true, false, false, false, false]);
  });

  it('are asked again after waits that double, the last time at the end, and then no more', () => {
    const tries: number[] = [];
    for (let at = 0, waitMs = dnsRetryDelayMs(null, 300_000); waitMs !== null; waitMs = dnsRetryDelayMs(at, 300_000))
      tries.push((at += waitMs));

    expect(tries).toEqual([6_000, 12_000, 24_000, 48_000, 96_000, 192_000, 300_000]);
    expect([
      dnsRetryDelayMs(null, 0),
      dnsRetryDelayMs(null, 1_000),
      dnsRetryDelayMs(1_000, 1_000),
      dnsRetryDelayMs(3_600_000, 1_000),
    ]).toEqual([null, 1_000, null, null]);
  });
});
