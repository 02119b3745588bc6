import { formatRate, levelOf, readThresholds, thresholdDraftOf } from './reputation-draft';

const DEFAULTS = {
  bounce_rate_warning: 0.05,
  bounce_rate_pause: 0.1,
  complaint_rate_warning: 0.001,
  complaint_rate_pause: null,
  minimum_sent: 100,
};

describe('limits of a domain', () => {
  it('are edited in percent, and are unchanged when saved', () => {
    const draft = thresholdDraftOf(DEFAULTS);

    expect(draft).toEqual({
      bounce_rate_warning: '5',
      bounce_rate_pause: '10',
      complaint_rate_warning: '0.1',
      complaint_rate_pause: '',
      minimum_sent: '100',
    });
    expect(readThresholds(draft)).toEqual(DEFAULTS);
  });

  it.each([
    { bounce_rate_warning: '' },
    { bounce_rate_warning: 'x' },
    { bounce_rate_pause: '101' },
    { complaint_rate_warning: '-1' },
    { minimum_sent: '0' },
    { minimum_sent: '1.5' },
  ])('are not saved with %j', (changes) => {
    expect(readThresholds({ ...thresholdDraftOf(DEFAULTS), ...changes })).toBeNull();
  });
});

describe('levelOf', () => {
  it.each<[number | null, number, ReturnType<typeof levelOf>]>([
    [null, 0, 'none'],
    [0.5, 99, 'none'],
    [0, 100, 'good'],
    [0.04, 100, 'good'],
    [0.05, 100, 'warning'],
    [0.1, 100, 'pause'],
  ])('a rate of %j with %i recipients: %s', (rate, sent, level) => {
    expect(levelOf(rate, sent, { warning: 0.05, pause: 0.1, minimum: 100 })).toBe(level);
  });

  it('never reaches an absent pause limit', () => {
    expect(levelOf(1, 100, { warning: 0.05, pause: null, minimum: 100 })).toBe('warning');
  });
});

it.each<[number | null, string, string]>([
  [null, 'en', '–'],
  [0.00375, 'en', '0.375%'],
  [0.1, 'de', '10\u00a0%'],
])('formatRate(%j, %s) is %s', (rate, language, text) => {
  expect(formatRate(rate, language)).toBe(text);
});
