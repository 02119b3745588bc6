import fc from 'fast-check';
import {
  type Answer,
  type AttemptError,
  classify,
  decide,
  type FailedAttempt,
  isHardFailure,
  retryAfterMs,
  type RetryRuling,
} from './outcome.js';
import { DEFAULT_RETRY_POLICY } from './retry.js';

const NOW = new Date('2026-11-20T12:00:00.000Z');
const DAY_MS = 86_400_000;
const ERRORS: AttemptError[] = ['timeout', 'dns', 'connection', 'tls', 'blocked', 'protocol'];
const answered = (status: number, retryAfter: string | null = null): Answer => ({
  kind: 'response',
  status,
  retryAfter,
});
const after = (ms: number): Date => new Date(NOW.getTime() + ms);

describe('classify', () => {
  it.each([
    [200, 'success'],
    [201, 'success'],
    [204, 'success'],
    [299, 'success'],
    [100, 'failed'],
    [199, 'failed'],
    [300, 'failed'],
    [301, 'failed'],
    [302, 'failed'],
    [304, 'failed'],
    [308, 'failed'],
    [400, 'failed'],
    [401, 'failed'],
    [404, 'failed'],
    [408, 'failed'],
    [409, 'failed'],
    [411, 'failed'],
    [410, 'gone'],
    [429, 'throttled'],
    [502, 'throttled'],
    [503, 'throttled'],
    [504, 'throttled'],
    [500, 'failed'],
    [501, 'failed'],
    [505, 'failed'],
    [599, 'failed'],
  ])('calls status %i %s', (status, outcome) => {
    expect(classify(answered(status, '10'))).toBe(outcome);
  });

  it.each(ERRORS)('classifies a %s error as failed', (error) => {
    expect(classify({ kind: 'error', error })).toBe('failed');
  });

  it('classifies a payload that no target would accept as refused', () => {
    expect(classify({ kind: 'error', error: 'refused' })).toBe('refused');
  });

  it.each([
    [400, 'throttled'],
    [200, 'failed'],
    [400, 'refused'],
    [503, 'success'],
  ] as const)('uses the outcome of the adapter for status %i: %s', (status, outcome) => {
    expect(classify({ kind: 'response', status, retryAfter: null, outcome })).toBe(outcome);
  });
});

describe('isHardFailure', () => {
  it.each([
    ['success', false],
    ['gone', false],
    ['refused', false],
    ['throttled', false],
    ['failed', true],
  ] as const)('of %s is %s', (outcome, hard) => {
    expect(isHardFailure(outcome)).toBe(hard);
  });
});

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    ['007', 7000],
    [' 5\t', 5000],
    ['-5', 0],
    ['-0', 0],
    ['86400', DAY_MS],
    ['86401', DAY_MS],
    ['9'.repeat(400), DAY_MS],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri Nov 20 12:00:30 2026', 30_000],
    ['Tue Dec  1 00:00:00 2026', DAY_MS],
    ['Fri, 20 Nov 2026 12:00:60 GMT', 60_000],
    ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
    // RFC 9110 section 5.6.7: the same time in the past, in three formats.
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sun Nov  6 08:49:37 1994', 0],
    ['Sat, 01 Jan 2600 00:00:00 GMT', DAY_MS],
  ])('of %j is %i', (value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected);
  });

  it.each([
    null,
    '',
    ' ',
    'soon',
    '1.5',
    '1e3',
    '+5',
    '0x10',
    '5s',
    '5, 10',
    '--5',
    '2026-11-20T12:00:30Z',
    'Fri, 20 Nov 2026 12:00:30',
    'Fri, 20 Nov 2026 12:00:30 UTC',
    'Fri, 20 Nov 2026 12:00:30 +0100',
    'fri, 20 nov 2026 12:00:30 gmt',
    'Fri, 31 Feb 2026 12:00:30 GMT',
    'Fri, 00 Nov 2026 12:00:30 GMT',
    'Fri, 20 Nov 2026 24:00:00 GMT',
    'Fri, 20 Nov 2026 12:60:00 GMT',
    'Fri, 20-Nov-26 12:00:30 GMT',
    'Fri Nov 1 12:00:30 2026',
  ])('of %j is null', (value) => {
    expect(retryAfterMs(value, NOW)).toBeNull();
  });
});

describe('retryAfterMs of dates and of any text', () => {
  it('reads a two-digit year as at most 50 years ahead, also across a century', () => {
    const lateInCentury = new Date('2099-12-31T23:59:50.000Z');

    expect(retryAfterMs('Friday, 01-Jan-00 00:00:00 GMT', lateInCentury)).toBe(10_000);
    expect(retryAfterMs('Sunday, 06-Nov-94 08:49:37 GMT', new Date('1994-11-06T08:49:00.000Z'))).toBe(37_000);
    expect(retryAfterMs('Tuesday, 29-Feb-00 12:00:00 GMT', NOW)).toBe(0);
    expect(retryAfterMs('Friday, 20-Nov-76 12:00:00 GMT', NOW)).toBe(DAY_MS);
    expect(retryAfterMs('Friday, 20-Nov-76 12:00:01 GMT', NOW)).toBe(0);
  });

  it('returns exactly the second that an IMF-fixdate names, within the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), (seconds) => {
        expect(retryAfterMs(after(seconds * 1000).toUTCString(), NOW)).toBe(seconds * 1000);
      }),
    );
  });

  it('is null or between 0 and 24 h for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (text) => {
          const waitMs = retryAfterMs(text, NOW);
          expect(waitMs === null || (waitMs >= 0 && waitMs <= DAY_MS)).toBe(true);
        },
      ),
    );
  });
});

describe('decide', () => {
  const used = (attemptsUsed: number) => ({ attemptsUsed, firstAttemptAt: NOW });
  const decideOn = (answer: Answer, attemptsUsed: number) =>
    decide(classify(answer), answer, used(attemptsUsed), DEFAULT_RETRY_POLICY, NOW, 0.5);

  it.each([1, 8])('returns delivered after a 2xx, on attempt %i', (attempt) => {
    expect(decideOn(answered(204), attempt)).toEqual({ status: 'delivered' });
  });

  it.each([1, 8])('returns failed after a 410, on attempt %i', (attempt) => {
    expect(decideOn(answered(410, '5'), attempt)).toEqual({ status: 'failed', reason: 'gone' });
  });

  it.each([1, 8])('returns failed after a refused payload, on attempt %i', (attempt) => {
    expect(decideOn({ kind: 'error', error: 'refused' }, attempt)).toEqual({ status: 'failed', reason: 'refused' });
    expect(decideOn({ kind: 'response', status: 400, retryAfter: null, outcome: 'refused' }, attempt)).toEqual({
      status: 'failed',
      reason: 'refused',
    });
  });

  it.each([answered(500), answered(503), answered(429, '60'), { kind: 'error', error: 'timeout' } as const])(
    'returns dlq after the last attempt, on %j',
    (answer) => {
      expect(decideOn(answer, 8)).toEqual({ status: 'dlq' });
    },
  );

  it('retries at the scheduled time', () => {
    expect(decideOn(answered(500), 2)).toEqual({ status: 'retrying', dueAt: after(155_000) });
    expect(decideOn({ kind: 'error', error: 'dns' }, 2)).toEqual({ status: 'retrying', dueAt: after(155_000) });
  });

  describe('with a policy that has exceptions', () => {
    const asked: FailedAttempt[] = [];
    const ruled = (answer: Answer, attemptsUsed: number, ruling: RetryRuling | null) => {
      asked.length = 0;
      const rule = (failed: FailedAttempt): RetryRuling | null => (asked.push(failed), ruling);
      return decide(classify(answer), answer, used(attemptsUsed), { ...DEFAULT_RETRY_POLICY, rule }, NOW, 0.5);
    };

    it('waits for the delay of the exception without jitter, and passes the attempt to the rule', () => {
      expect(ruled(answered(500), 2, { delaySeconds: 1.5 })).toEqual({ status: 'retrying', dueAt: after(1_500) });
      expect(asked).toEqual([{ number: 2, outcome: 'failed', status: 500, error: null }]);
      ruled({ kind: 'error', error: 'timeout' }, 3, null);
      expect(asked).toEqual([{ number: 3, outcome: 'failed', status: null, error: 'timeout' }]);
    });

    it('keeps the schedule without an exception', () => {
      expect(ruled(answered(500), 2, null)).toEqual({ status: 'retrying', dueAt: after(155_000) });
    });

    it('returns dlq when the rule says never', () => {
      expect(ruled(answered(500), 1, 'never')).toEqual({ status: 'dlq' });
    });

    it('still waits as long as the target asks for', () => {
      expect(ruled(answered(429, '600'), 2, { delaySeconds: 1 })).toEqual({
        status: 'retrying',
        dueAt: after(600_000),
      });
    });

    it.each([
      [answered(200), 1],
      [answered(410), 1],
      [answered(500), 8],
    ])('does not call the rule when nothing is to be decided: %j, attempt %i', (answer, attempt) => {
      ruled(answer, attempt, { delaySeconds: 1 });

      expect(asked).toEqual([]);
    });
  });

  it.each([429, 502, 503, 504])('delays a %i by Retry-After, and never advances it', (status) => {
    expect(decideOn(answered(status, '600'), 2)).toEqual({ status: 'retrying', dueAt: after(600_000) });
    expect(decideOn(answered(status, '1'), 2)).toEqual({ status: 'retrying', dueAt: after(155_000) });
    expect(decideOn(answered(status, 'soon'), 2)).toEqual({ status: 'retrying', dueAt: after(155_000) });
    expect(decideOn(answered(status, '999999'), 2)).toEqual({ status: 'retrying', dueAt: after(DAY_MS) });
  });

  it.each([302, 400, 404, 500])('ignores Retry-After on a %i', (status) => {
    expect(decideOn(answered(status, '600'), 2)).toEqual({ status: 'retrying', dueAt: after(155_000) });
  });
});
