import fc from 'fast-check';
import { type DeliveryStatus, foldStatus } from './event-status.js';

const WORST_FIRST: DeliveryStatus[] = ['retrying', 'dlq', 'failed', 'delivered'];

describe('foldStatus', () => {
  it.each<[DeliveryStatus[], DeliveryStatus]>([
    [['delivered'], 'delivered'],
    [['failed'], 'failed'],
    [['dlq'], 'dlq'],
    [['retrying'], 'retrying'],
    [['delivered', 'failed'], 'failed'],
    [['failed', 'dlq', 'delivered'], 'dlq'],
    [['dlq', 'failed', 'delivered', 'retrying'], 'retrying'],
  ])('of %j is %s', (statuses, expected) => {
    expect(foldStatus(statuses)).toBe(expected);
  });

  it('returns the first of retrying, dlq, failed, delivered that occurs, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORST_FIRST), { minLength: 1 }), (statuses) => {
        expect(foldStatus(statuses)).toBe(WORST_FIRST.find((status) => statuses.includes(status)));
      }),
    );
  });

  it('throws for an event without deliveries', () => {
    expect(() => foldStatus([])).toThrow(RangeError);
  });
});
