import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { mergedFigures } from './merged-figures.js';

async function pageOf(count: number): Promise<string> {
  const registers = [new Registry()];
  new Counter({ name: 'sent_total', help: 'What was sent.', registers, labelNames: ['to'] }).inc(
    { to: 'a "quoted}\nplace' },
    count,
  );
  new Gauge({ name: 'open', help: 'Open {now}.', registers }).set(count);
  new Histogram({ name: 'took_seconds', help: 'How long.', registers, buckets: [1] }).observe(0.5);
  return (registers[0] as Registry).metrics();
}

describe('mergedFigures', () => {
  it('labels every sample with its process, and writes the header of each metric once', async () => {
    const page = mergedFigures(
      new Map([
        [1, await pageOf(3)],
        [2, await pageOf(4)],
      ]),
    );

    expect(page.split('\n')).toEqual([
      '# HELP sent_total What was sent.',
      '# TYPE sent_total counter',
      'sent_total{process="1",to="a \\"quoted}\\nplace"} 3',
      'sent_total{process="2",to="a \\"quoted}\\nplace"} 4',
      '',
      '# HELP open Open {now}.',
      '# TYPE open gauge',
      'open{process="1"} 3',
      'open{process="2"} 4',
      '',
      '# HELP took_seconds How long.',
      '# TYPE took_seconds histogram',
      ...[1, 2].flatMap((number) => [
        `took_seconds_bucket{process="${number}",le="1"} 1`,
        `took_seconds_bucket{process="${number}",le="+Inf"} 1`,
        `took_seconds_sum{process="${number}"} 0.5`,
        `took_seconds_count{process="${number}"} 1`,
      ]),
      '',
    ]);
  });

  it('keeps metrics that only one process has', async () => {
    const page = mergedFigures(
      new Map([
        [1, ''],
        [2, '# HELP only Here.\n# TYPE only gauge\nonly 1\n'],
      ]),
    );

    expect(page).toBe('# HELP only Here.\n# TYPE only gauge\nonly{process="2"} 1\n');
  });
});
