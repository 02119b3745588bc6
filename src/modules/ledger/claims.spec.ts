import type { ClaimedDelivery } from './claims.contract.js';
import { Claims } from './claims.js';
import type { DueStore } from './due.store.js';

const MEGABYTE = 1024 * 1024;
const bytes = Buffer.alloc(16 * MEGABYTE);
const text = (length: number): string => 'é'.repeat(length);

function delivery(payload: string | Buffer | null, messageId: string | null = null): ClaimedDelivery {
  return { payload, messageId } as ClaimedDelivery;
}

describe('Claims', () => {
  it.each<[string, ClaimedDelivery[], boolean]>([
    ['it reached its limit', Array<ClaimedDelivery>(5).fill(delivery('{}')), true],
    ['it found fewer than its limit', Array<ClaimedDelivery>(4).fill(delivery('{}')), false],
    ['it found nothing', [], false],
    ['it reached 32 MB', [delivery(bytes), delivery(bytes)], true],
    ['its bytes are fewer than 32 MB', [delivery(bytes), delivery(bytes.subarray(1))], false],
    ['its text may have 32 MB', [delivery(text(16 * MEGABYTE))], true],
    ['its text is shorter', [delivery(text(10 * MEGABYTE))], false],
    ['its payload is shared by a fan-out', [delivery(text(16 * MEGABYTE), 'm')], false],
    ['its payload was erased', [delivery(null)], false],
  ])('knows whether a claim may leave more: %s', (_, claimed, expected) => {
    expect(new Claims({} as DueStore, {} as never).mayLeaveMore(claimed, 5)).toBe(expected);
  });
});
