import { isNotShipped } from './not-shipped.js';

it.each([
  ['/v1/domains', false],
  ['/v1/aliases/al_1/replay', false],
  ['/v1/billing', true],
  ['/v1/endpoints', false],
  ['/v1/ingest-domains', false],
  ['/v1/emails/batch', false],
  ['/oauth/nothing', false],
  ['/v1/nothing', false],
  ['/v1/events', false],
  ['/v1', false],
  ['/', false],
  ['/endpoints', false],
  ['/v2/endpoints', false],
  ['/v1/endpointsx', false],
  ['/v1/__proto__', false],
])('%s comes later: %s', (path, expected) => {
  expect(isNotShipped(path)).toBe(expected);
});
