import { isRestorable, subscriptionAddition, subscriptionRemoval } from './topic-changes';

const ROW = { email: 'a@example.org', subscription: 'opt_out', origin: 'api' };
const list = (...rows: { email: string }[]): object => ({ pages: [{ data: rows }] });
const emailsOf = (data: unknown): string[] =>
  (data as { pages: { data: { email: string }[] }[] }).pages.flatMap((page) => page.data.map(({ email }) => email));

describe('a subscription', () => {
  it('is removed from lists by its address', () => {
    const { change, queryKey } = subscriptionRemoval('live', 'top_1', ROW);

    expect(queryKey).toEqual(['topic-subscriptions', 'live', 'top_1']);
    expect(emailsOf(change(list(ROW, { email: 'b@example.org' }), queryKey))).toEqual(['b@example.org']);
  });

  it.each([
    [{}, ['a@example.org', 'b@example.org']],
    [{ subscription: 'opt_out' }, ['a@example.org', 'b@example.org']],
    [{ subscription: 'opt_in' }, ['b@example.org']],
  ])('is added to a list with the filters %j only if it matches', (filters, emails) => {
    const { change, queryKey } = subscriptionAddition('live', 'top_1', ROW);

    expect(emailsOf(change(list({ email: 'b@example.org' }), [...queryKey, filters]))).toEqual(emails);
  });

  it.each([
    ['api', true],
    ['default', true],
    ['recipient', false],
  ])('of origin %s can be restored: %s', (origin, isPossible) => {
    expect(isRestorable({ origin })).toBe(isPossible);
  });
});
