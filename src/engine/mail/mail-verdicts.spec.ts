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

describe('authorOf', () => {
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
  ])('%s: sent automatically: %s', (head, expected) => {
    expect(isAutoSubmitted(fields(head))).toBe(expected);
  });
});

describe('decisions from the verdicts', () => {
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
    ['a decision of the SMTP transaction', { reason: 'too_large' }, 'too_large'],
    ['its size', { sizeBytes: 11, alias: { allowedSenders: [], maxSizeBytes: 10 } }, 'too_large'],
    ['no author', { author: { kind: 'missing' }, auth: 'none' }, 'from_missing'],
    ['several authors', { author: { kind: 'several' }, auth: 'fail' }, 'from_ambiguous'],
    ['failed DMARC whose policy requires it', { auth: 'fail' }, 'dmarc_failed'],
    [
      'failed DMARC whose policy does not require it',
      { auth: 'fail', verdicts: { dmarc: 'fail', dmarcPolicy: 'none', virus: 'pass' } },
      null,
    ],
    ['an allowed sender', { alias: { allowedSenders: ['@b.example'], maxSizeBytes: null } }, null],
    [
      'a sender that is not allowed',
      { alias: { allowedSenders: ['@c.example', '*.b.example'], maxSizeBytes: null } },
      'sender_not_allowed',
    ],
    [
      'an allowed sender that could not be verified',
      { auth: 'none', alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null } },
      null,
    ],
    [
      'a forged allowed sender',
      {
        auth: 'fail',
        verdicts: { dmarc: 'fail', dmarcPolicy: 'none', virus: 'pass' },
        alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null },
      },
      'sender_not_allowed',
    ],
    [
      'a temporary DNS error: nothing (RFC 7489, section 6.6.2)',
      { auth: 'none', verdicts: { dmarc: 'temperror', dmarcPolicy: 'reject', virus: 'disabled' } },
      null,
    ],
    [
      'a temporary DNS error, if only some senders are allowed',
      {
        auth: 'none',
        verdicts: { dmarc: 'temperror', dmarcPolicy: 'reject', virus: 'disabled' },
        alias: { allowedSenders: ['ada@b.example'], maxSizeBytes: null },
      },
      'sender_unverified',
    ],
    [
      'a temporary DNS error, and a sender that is not allowed',
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

describe('unresponsive name servers', () => {
  it('are queried again only if an answer could change the disposition of the message', () => {
    expect([
      dependsOnDns('temperror', null),
      dependsOnDns('temperror', 'sender_unverified'),
      dependsOnDns('temperror', 'virus'),
      dependsOnDns('temperror', 'sender_not_allowed'),
      dependsOnDns('fail', null),
      dependsOnDns('none', null),
    ]).toEqual([true, true, false, false, false, false]);
  });

  it('are queried again after doubling delays, a last time at the end, and then not any more', () => {
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
