import { keyState } from './key-state';

const NOW = Date.parse('2026-11-21T09:30:00.000Z');

describe('keyState', () => {
  it.each([
    [null, null, 'active'],
    [null, '2026-11-21T09:30:00.001Z', 'active'],
    [null, '2026-11-21T09:30:00.000Z', 'expired'],
    ['2026-11-20T00:00:00.000Z', null, 'revoked'],
    ['2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.000Z', 'revoked'],
  ])('revoked %s, expires %s: %s', (revoked_at, expires_at, state) => {
    expect(keyState({ revoked_at, expires_at }, NOW)).toBe(state);
  });
});
