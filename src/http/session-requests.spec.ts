import { maySpeakForSession, takesSession } from './session-requests.js';

type Request = Parameters<typeof maySpeakForSession>[0];

const request = (headers: Record<string, string>, edge: object = { access: 'read' }, url = '/v1/events'): Request =>
  ({
    headers: { cookie: 'posthorn_session=a', 'x-posthorn-console': '1', ...headers },
    edge,
    routeOptions: { url },
  }) as unknown as Request;

describe('maySpeakForSession', () => {
  it.each([
    ['http://localhost:3000', 'http://localhost:3000', true],
    ['https://hooks.example.com/posthorn', 'https://hooks.example.com', true],
    ['https://hooks.example.com:443', 'https://hooks.example.com', true],
    ['https://hooks.example.com', 'http://hooks.example.com', false],
    ['https://hooks.example.com', 'https://hooks.example.com.evil.example', false],
    ['https://hooks.example.com', 'https://evil.hooks.example.com', false],
    ['http://localhost:3000', 'http://127.0.0.1:3000', false],
    ['http://localhost:3000', 'http://localhost:3001', false],
    ['http://localhost:3000', 'null', false],
    ['http://localhost:3000', '', false],
  ])('BASE_URL %s, Origin %s: %s', (baseUrl, origin, expected) => {
    expect(maySpeakForSession(request({ origin }), baseUrl)).toBe(expected);
  });

  it('an EventSource needs no header on a route that accepts one', () => {
    const accept = { 'x-posthorn-console': '', accept: 'text/event-stream' };

    expect(maySpeakForSession(request(accept, { access: 'read', eventSource: true }), 'http://localhost')).toBe(true);
    expect(maySpeakForSession(request(accept), 'http://localhost')).toBe(false);
  });
});

describe('takesSession', () => {
  it.each([
    ['read', '/v1/events', true],
    ['admin', '/v1/keys/:id', true],
    ['read', '/mcp', false],
    ['operator', '/v1/orgs', false],
    ['public', '/v1/providers/ses/notifications', false],
    ['read', '/v1evil', false],
  ] as const)('%s %s: %s', (access, path, expected) => {
    expect(takesSession({ access }, path)).toBe(expected);
  });
});
