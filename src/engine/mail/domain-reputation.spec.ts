import { judgeReputation, type MailCounts, rateOf, THRESHOLDS_DEFAULT } from './domain-reputation.js';

const counts = (sent: number, bounced: number, complained = 0): MailCounts => ({
  sent,
  bounced,
  complained,
  delivered: sent - bounced,
});

describe('judgeReputation', () => {
  it.each<[string, MailCounts, string, string | null]>([
    ['nothing was sent', counts(0, 0), 'healthy', null],
    ['all of 99 recipients bounced', counts(99, 99, 99), 'healthy', null],
    ['4 of 100 bounced', counts(100, 4), 'healthy', null],
    ['5 of 100 bounced', counts(100, 5), 'at_risk', 'bounce_rate'],
    ['99 of 1,000 bounced', counts(1000, 99), 'at_risk', 'bounce_rate'],
    ['10 of 100 bounced', counts(100, 10), 'paused', 'bounce_rate'],
    ['1 of 1,000 complained', counts(1000, 0, 1), 'at_risk', 'complaint_rate'],
    ['1 of 1,001 complained', counts(1001, 0, 1), 'healthy', null],
    ['5 of 1,000 complained', counts(1000, 0, 5), 'paused', 'complaint_rate'],
    ['both rates reach their pause limits', counts(100, 50, 50), 'paused', 'complaint_rate'],
    ['complaints warn, bounces pause', counts(1000, 100, 1), 'paused', 'bounce_rate'],
  ])('%s', (_what, given, reputation, cause) => {
    expect(judgeReputation(given, THRESHOLDS_DEFAULT)).toEqual({ reputation, cause });
  });

  it('a pause limit of null only warns; a limit of zero needs an occurrence', () => {
    const never = { ...THRESHOLDS_DEFAULT, bouncePause: null, complaintPause: null };

    expect(judgeReputation(counts(100, 100, 100), never)).toEqual({ reputation: 'at_risk', cause: 'complaint_rate' });
    expect(judgeReputation(counts(100, 0), { ...THRESHOLDS_DEFAULT, bouncePause: 0 })).toMatchObject({
      reputation: 'healthy',
    });
    expect(judgeReputation(counts(1, 1), { ...THRESHOLDS_DEFAULT, sentMin: 1 })).toMatchObject({
      reputation: 'paused',
    });
  });
});

describe('rateOf', () => {
  it.each([
    [0, 0, null],
    [1, 3, 0.333333],
    [3, 3, 1],
  ])('%s of %s is %s', (count, sent, rate) => {
    expect(rateOf(count, sent)).toBe(rate);
  });
});
