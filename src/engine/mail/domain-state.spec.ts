import type { DomainKind, Judgement, RecordRole } from './dns-records.js';
import {
  afterCheck,
  afterConversion,
  type DomainStanding,
  type JudgedRecord,
  MISSING_MS_MAX,
  restMs,
} from './domain-state.js';

const HOUR_MS = 3_600_000;
const NEW: DomainStanding = {
  state: 'pending-dns',
  isSending: false,
  isReceiving: false,
  missingMs: 0,
  missingSeenAtMs: null,
};
const REQUIRED: Readonly<Record<DomainKind, readonly RecordRole[]>> = {
  webhook: ['ownership', 'cname'],
  email: ['ownership', 'dkim', 'dkim', 'mx'],
  'email-send': ['ownership', 'dkim', 'dkim'],
};

function seen(kind: DomainKind, other: Partial<Record<RecordRole, Judgement['verdict']>> = {}): JudgedRecord[] {
  const required = REQUIRED[kind].map((record) => ({
    record,
    required: true,
    verdict: other[record] ?? ('right' as const),
    error: null,
  }));
  return [...required, { record: 'dmarc', required: false, verdict: other.dmarc ?? 'missing', error: null }];
}

describe('afterCheck', () => {
  it.each<[DomainKind, boolean, boolean]>([
    ['webhook', false, true],
    ['email', true, true],
    ['email-send', true, false],
  ])('%s: verified with all required records, sending %s, receiving %s', (kind, isSending, isReceiving) => {
    expect(afterCheck(NEW, kind, seen(kind), 0)).toEqual({
      state: 'verified',
      isSending,
      isReceiving,
      missingMs: 0,
      missingSeenAtMs: null,
    });
  });

  it('pending while a record is missing; a mail domain can send once ownership and keys are published', () => {
    expect(afterCheck(NEW, 'email', seen('email', { mx: 'missing' }), 7)).toEqual({
      ...NEW,
      isSending: true,
      missingSeenAtMs: 7,
    });
    expect(afterCheck(NEW, 'email', seen('email', { dkim: 'wrong' }), 7)).toEqual({ ...NEW, missingSeenAtMs: 7 });
  });

  it('failed after 72 hours of definite answers, but not after 71', () => {
    let standing = NEW;
    const states = Array.from({ length: 74 }, (_hour, hour) => {
      standing = afterCheck(standing, 'webhook', seen('webhook', { cname: 'missing' }), hour * HOUR_MS);
      return standing.state;
    });
    expect(states.indexOf('failed')).toBe(72);
  });

  it('time without answers never counts, not even between two answers', () => {
    let standing = afterCheck(NEW, 'webhook', seen('webhook', { cname: 'missing' }), 0);
    standing = afterCheck(standing, 'webhook', seen('webhook', { cname: 'missing' }), HOUR_MS);
    for (let hour = 2; hour < 500; hour += 1)
      standing = afterCheck(standing, 'webhook', seen('webhook', { cname: 'unanswered' }), hour * HOUR_MS);
    standing = afterCheck(standing, 'webhook', seen('webhook', { cname: 'missing' }), 500 * HOUR_MS);
    expect(standing).toMatchObject({ state: 'pending-dns', missingMs: HOUR_MS });
  });

  it('a complete check restarts the 72 hours', () => {
    const almost = { ...NEW, missingMs: MISSING_MS_MAX - 1, missingSeenAtMs: 0 };
    expect(afterCheck(almost, 'webhook', seen('webhook'), HOUR_MS)).toMatchObject({
      state: 'verified',
      missingMs: 0,
      missingSeenAtMs: null,
    });
  });

  const verified: DomainStanding = { ...NEW, state: 'verified', isSending: true, isReceiving: true };

  it('a verified domain stays verified without answers and for an hour without a record, and fails after 72 hours', () => {
    expect(afterCheck(verified, 'email', seen('email', { ownership: 'unanswered' }), 0)).toEqual(verified);
    expect(afterCheck(verified, 'email', seen('email', { ownership: 'missing' }), 0)).toMatchObject({
      state: 'verified',
      isSending: true,
      isReceiving: true,
    });
    const lost = { ...verified, missingMs: MISSING_MS_MAX - HOUR_MS, missingSeenAtMs: 0 };
    expect(afterCheck(lost, 'email', seen('email', { ownership: 'missing' }), HOUR_MS)).toMatchObject({
      state: 'failed',
      isSending: false,
      isReceiving: false,
    });
    expect(afterCheck(lost, 'email', seen('email', { mx: 'wrong' }), HOUR_MS)).toMatchObject({
      state: 'failed',
      isSending: true,
      isReceiving: false,
    });
    const failed: DomainStanding = { ...lost, state: 'failed', isReceiving: false, missingMs: MISSING_MS_MAX };
    expect(afterCheck(failed, 'email', seen('email', { mx: 'wrong', ownership: 'unanswered' }), HOUR_MS)).toMatchObject(
      { state: 'failed', isSending: true },
    );
  });

  it('a failed domain becomes verified when all records are found, and gets another 72 hours only when a user asks', () => {
    const failed: DomainStanding = { ...NEW, state: 'failed', missingMs: MISSING_MS_MAX, missingSeenAtMs: 0 };
    expect(afterCheck(failed, 'webhook', seen('webhook'), 1)).toMatchObject({ state: 'verified', isReceiving: true });
    expect(afterCheck(failed, 'webhook', seen('webhook', { cname: 'missing' }), 1)).toMatchObject({ state: 'failed' });
    expect(afterCheck(failed, 'webhook', seen('webhook', { cname: 'missing' }), 1, true)).toEqual({
      ...NEW,
      missingSeenAtMs: 1,
    });
    expect(afterCheck(failed, 'webhook', seen('webhook', { cname: 'unanswered' }), 1)).toMatchObject({
      state: 'failed',
    });
  });

  it('optional records do not affect the state', () => {
    for (const dmarc of ['missing', 'wrong', 'unanswered'] as const)
      expect(afterCheck(NEW, 'email', seen('email', { dmarc }), 0).state).toBe('verified');
  });
});

describe('afterConversion', () => {
  it('to email: pending, does not receive, continues to send', () => {
    const before: DomainStanding = { ...NEW, state: 'verified', isSending: true };
    expect(afterConversion(before, 'email', seen('email'))).toEqual({ ...NEW, isSending: true });
  });

  it('to email-send: verified if all records that it still needs were found', () => {
    const before: DomainStanding = { ...NEW, isSending: true, isReceiving: true, missingMs: 5, missingSeenAtMs: 5 };
    expect(afterConversion(before, 'email-send', seen('email-send'))).toEqual({
      ...NEW,
      state: 'verified',
      isSending: true,
    });
    expect(afterConversion(before, 'email-send', seen('email-send', { dkim: 'missing' }))).toEqual({
      ...NEW,
      isSending: true,
    });
  });
});

describe('restMs', () => {
  const hours = (standing: Pick<DomainStanding, 'state' | 'missingSeenAtMs'>, checks: number): number =>
    restMs(standing, checks, 0.5) / HOUR_MS;

  it('grows from a minute to hours, and is short while records of a verified domain are missing', () => {
    const pending = { state: 'pending-dns', missingSeenAtMs: 0 } as const;
    expect([1, 2, 3, 20, 1_000].map((checks) => hours(pending, checks) * 60)).toEqual([1, 2, 4, 240, 240]);
    expect(hours({ state: 'verified', missingSeenAtMs: null }, 50)).toBe(12);
    expect(hours({ state: 'verified', missingSeenAtMs: 1 }, 50)).toBe(1);
    expect(hours({ state: 'failed', missingSeenAtMs: 1 }, 50)).toBe(168);
  });

  it('differs between domains', () => {
    expect([0, 1].map((random) => restMs({ state: 'verified', missingSeenAtMs: null }, 50, random) / HOUR_MS)).toEqual([
      10.8, 13.2,
    ]);
  });
});
