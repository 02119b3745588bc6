import { callCurl } from './call-curl';

describe('callCurl', () => {
  it.each([
    [
      { method: 'GET', path: '/v1/keys?limit=100', body: null },
      `curl 'https://hooks.example/posthorn/v1/keys?limit=100' \\\n  -H "Authorization: Bearer $POSTHORN_API_KEY"`,
    ],
    [
      { method: 'POST', path: '/v1/app', body: `{"name":"O'Neil $(id)"}` },
      `curl -X POST 'https://hooks.example/posthorn/v1/app' \\\n  -H "Authorization: Bearer $POSTHORN_API_KEY" \\\n` +
        `  -H 'Content-Type: application/json' \\\n  --data-raw '{"name":"O'\\''Neil $(id)"}'`,
    ],
    [
      { method: 'DELETE', path: '/v1/keys/key_1', body: null },
      `curl -X DELETE 'https://hooks.example/posthorn/v1/keys/key_1' \\\n  -H "Authorization: Bearer $POSTHORN_API_KEY"`,
    ],
  ])('%j', (call, command) => {
    expect(callCurl('https://hooks.example/posthorn/', call)).toBe(command);
  });
});
