import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it("has Node.js's own figures from the first scrape on, numbers all of them, however many scrape at once", async () => {
    const metrics = new Metrics();
    expect((await metrics.registry.metrics()).trim()).toBe('');

    const pages = await Promise.all([metrics.page(), metrics.own()]);

    for (const page of pages) {
      const lags = [...page.matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm)];
      expect(lags.map(([, name]) => name)).toEqual(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']);
      expect(page).toMatch(/^process_resident_memory_bytes \d+$/m);
      expect(page).not.toContain('nodejs_active_handles_total');
    }
    const [first = ''] = pages;
    for (const [, value] of first.matchAll(/^nodejs_eventloop_lag_\w+_seconds (\S+)$/gm)) expect(Number(value)).toBeLessThan(60);
  });
});
