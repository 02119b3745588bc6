import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it("contains Node.js's own metrics from the first scrape on, as numbers, for any number of concurrent scrapes", async () => {
    const metrics = new Metrics();
    expect(
      (await metrics.registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    ).toEqual([expect.stringMatching(/^posthorn_build_info\{version="[^"]+",node="v[^"]+"\} 1$/)]);

    const pages = await Promise.all([metrics.page(), metrics.own()]);

    for (const page of pages) {
      const lags = [...page.matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm)];
      expect(lags.map(([, name]) => name)).toEqual(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']);
      expect(page).toMatch(/^process_resident_memory_bytes \d+$/m);
      expect(page).not.toContain('nodejs_active_handles_total');
    }
    const [first = ''] = pages;
    for (const [, value] of first.matchAll(/^nodejs_eventloop_lag_\w+_seconds (\S+)$/gm))
      expect(Number(value)).toBeLessThan(60);
  });

  it('reads gauges one at a time, and a gauge that fails or hangs does not block the others', async () => {
    const metrics = new Metrics();
    let [underWay, most] = [0, 0];
    const read =
      (value: number) =>
      async (gauge: { set(value: number): void }): Promise<void> => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        gauge.set(value);
      };
    metrics.gauge('first', 'One.', [], read(1));
    metrics.gauge('broken', 'None.', [], () => Promise.reject(new Error('away')));
    metrics.gauge('second', 'Another one.', [], read(2));
    metrics.gauge('third', 'A third one.', [], read(3));

    const pages = await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()]);

    expect(most).toBe(1);
    for (const page of pages)
      expect(page.match(/^posthorn_(first|second|third) \d$/gm)).toEqual([
        'posthorn_first 1',
        'posthorn_second 2',
        'posthorn_third 3',
      ]);
    expect(pages[0]).not.toMatch(/^posthorn_broken /m);

    let answer = (): void => undefined;
    metrics.gauge('hanging', 'Nothing yet.', [], () => new Promise((resolve) => (answer = resolve)));
    const afterIt = new Promise<void>((resolve) =>
      metrics.gauge('after', 'Behind the one that hangs.', [], () => resolve()),
    );
    const scrape = metrics.registry.metrics();
    await afterIt;
    answer();
    expect(await scrape).toContain('posthorn_third 3');
  });
});
