import { createHash } from 'node:crypto';
import { growthOf, LINEAR } from '../support/cpu-time.js';

describe('growthOf', () => {
  it('is below the limit for linear work, and above it for quadratic work', async () => {
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

    expect(await growthOf('.'.repeat(16_000_000), hash)).toBeLessThan(LINEAR);
    expect(await growthOf('.'.repeat(24_000), (text) => /\.+x/.test(text))).toBeGreaterThan(LINEAR);
  });
});
