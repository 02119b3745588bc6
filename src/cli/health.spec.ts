import { lateness, sharedHost } from './health.js';

it.each([[undefined, 'ok'], [{ storage: { oldest_due_age_ms: 59_000 } }, 'ok'], [{ storage: { oldest_due_age_ms: 61_000 } }, 'warning'], [{ storage: { oldest_due_age_ms: 300_000 } }, 'failed']])(
  'the oldest due delivery of %j is %s',
  (parts, result) => {
    expect(lateness(parts).result).toBe(result);
  },
);

it.each([
  ['https://hooks.example.com', { PLATFORM_DOMAIN: 'Hooks.example.com' }, ['warning']], ['http://localhost:3000', { PLATFORM_DOMAIN: 'hooks.example.com', BASE_URL: 'https://hooks.example.com' }, ['warning']],
  ['https://console.example.com', { PLATFORM_DOMAIN: 'hooks.example.com' }, ['ok']], ['http://localhost:3000', { PLATFORM_DOMAIN: 'localhost' }, []], ['https://hooks.example.com', {}, []],
])('PLATFORM_DOMAIN beside %s with %j: %j', (url, env, results) => {
  expect(sharedHost(url, env).map(({ result }) => result)).toEqual(results);
});
