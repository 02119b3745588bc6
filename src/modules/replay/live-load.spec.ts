import { restMs } from './live-load.js';

it.each([
  ['nobody else', 1_000, 0, 0],
  ['hardly anybody else', 1_000, 49, 0],
  ['a little', 1_000, 100, 1_000 / 0.21],
  ['a full machine', 1_000, 8_000, 1_000],
  ['a page with nothing to send', 0, 8_000, 0],
])(
  '%s: %d deliveries next to %d live events per second are followed by a pause of %d ms',
  (_what, enqueued, livePerSecond, expected) => {
    expect(restMs(enqueued, livePerSecond)).toBeCloseTo(expected, 6);
  },
);
