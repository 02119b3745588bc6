import { RandomPool } from './random-pool.js';

describe('RandomPool', () => {
  it('returns values of the given size that never repeat, also after the block is filled again', () => {
    const random = new RandomPool(12);

    const values = Array.from({ length: 2_000 }, () => random.next().toString('hex'));

    expect(new Set(values).size).toBe(values.length);
    expect(values.every((text) => text.length === 24)).toBe(true);
  });
});
