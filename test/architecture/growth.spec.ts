import { growthOf, LINEAR } from '../support/cpu-time.js';

describe('growthOf', () => {
  it('is below the limit for linear work, and above it for quadratic work', async () => {
    expect(await growthOf('.'.repeat(4_000_000), (text) => text.replaceAll('.', ','))).toBeLessThan(LINEAR);
    expect(await growthOf('.'.repeat(24_000), (text) => /\.+x/.test(text))).toBeGreaterThan(LINEAR);
  });
});
