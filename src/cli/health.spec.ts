import { lateness, sharedHost } from './health.js';

it.each([
  [undefined, 'ok'],
  [{ storage: { oldest_due_age_ms: 59_000 } }, 'ok'],
  [{ storage: { oldest_due_age_ms: 61_000 } }, 'warning'],
  [{ storage: { oldest_due_age_ms: 300_000 } }, 'failed'],
])('the oldest due delivery of %j is %s', (parts, result) => {
  expect(lateness(parts).result).toBe(result);
});

it.each([
  ['https://hooks.example.com', 'Hooks.example.com', ['warning']],
  ['https://hooks.example.com:8443/below', 'hooks.example.com', ['warning']],
  ['https://console.example.com', 'hooks.example.com', ['ok']],
  ['http://localhost:3000', 'localhost', []],
  ['https://hooks.example.com', '', []],
])('PLATFORM_DOMAIN beside %s is %s: %j', (baseUrl, domain, results) => {
  expect(sharedHost({ domain, baseUrl }).map(({ result }) => result)).toEqual(results);
});
