import type { Validation } from './destinations.entities.js';
import { verdict } from './validator.js';

const PASSED = { schema: true, credentials: true, connectivity: true };

describe('verdict', () => {
  it('a target to which connecting is not allowed is invalid, whatever its previous state was', () => {
    expect(verdict({ checks: { ...PASSED, connectivity: false }, isRefused: true }, 'valid')).toBe('invalid');
  });

  it.each<[Partial<typeof PASSED>, Validation, Validation]>([
    [{}, 'pending', 'valid'],
    [{}, 'stale', 'valid'],
    [{}, 'invalid', 'valid'],
    [{ connectivity: false }, 'valid', 'stale'],
    [{ connectivity: false }, 'stale', 'stale'],
    [{ connectivity: false }, 'pending', 'invalid'],
    [{ connectivity: false }, 'invalid', 'invalid'],
    [{ credentials: false, connectivity: false }, 'valid', 'invalid'],
    [{ schema: false, credentials: false, connectivity: false }, 'valid', 'invalid'],
  ])('with %j after %s is %s', (failed, before, expected) => {
    expect(verdict({ checks: { ...PASSED, ...failed }, isRefused: false }, before)).toBe(expected);
  });
});
