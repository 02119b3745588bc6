import { keptSeconds } from './kept-seconds.js';

it.each<[string | undefined, number]>([
  [undefined, 3_600],
  ['', 3_600],
  ['public', 3_600],
  ['max-age=900', 900],
  ['public, max-age=900', 900],
  ['MAX-AGE=900', 900],
  ['max-age="900"', 900],
  ['max-age=0', 300],
  ['max-age=299', 300],
  ['max-age=3601', 3_600],
  ['max-age=99999999999', 3_600],
  ['max-age=-1', 3_600],
  ['max-age=soon', 3_600],
  ['s-maxage=600, max-age=900', 600],
  ['max-age=900, max-age=600', 600],
  ['no-store', 300],
  ['no-cache', 300],
  ['private, max-age=3600', 300],
  ['no-cache="set-cookie", max-age=3600', 300],
])('Cache-Control %s: the document is cached for %d s', (cacheControl, seconds) => {
  expect(keptSeconds(cacheControl)).toBe(seconds);
});
