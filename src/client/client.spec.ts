import { PosthornClient, PosthornConnectionError, PosthornError, PosthornTimeoutError } from './index.js';

type Answer = Response | Error | 'never';

function scripted(
  answers: Answer[],
  options: { timeoutMs?: number; retries?: number; apiKey?: string } = {},
): { client: PosthornClient; sent: Request[]; bodies: string[]; waitsMs: number[] } {
  const [sent, bodies, waitsMs]: [Request[], string[], number[]] = [[], [], []];
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(request);
    bodies.push(await request.clone().text());
    const answer = answers[sent.length - 1] ?? new Response('{}', { status: 500 });
    if (answer === 'never')
      return new Promise((_resolve, reject) =>
        request.signal.aborted
          ? reject(request.signal.reason as Error)
          : request.signal.addEventListener('abort', () => reject(request.signal.reason as Error)),
      );
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const wait = async (ms: number): Promise<void> => void waitsMs.push(ms);
  return {
    client: new PosthornClient({ baseUrl: 'https://posthorn.test/', apiKey: 'ek_live_x', fetch, wait, ...options }),
    sent,
    bodies,
    waitsMs,
  };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const refusal = (status: number, type: string, details: object = {}, headers: Record<string, string> = {}): Response =>
  json({ error: { type, message: 'A sentence.', request_id: 'req_1', details } }, status, headers);
const SEND = { body: { destination: 'dst_1', event_type: 'a', payload: {} } };

describe('PosthornClient', () => {
  it('sends the key, the body and the parameters, and returns the body of the response', async () => {
    const { client, sent, bodies } = scripted([json({ message_id: 'msg_1' }, 202), json({ id: 'evt_1' })]);

    expect(await client.post('/v1/send', SEND)).toEqual({ message_id: 'msg_1' });
    expect(await client.get('/v1/events/{id}', { params: { path: { id: 'a/b' } } })).toEqual({ id: 'evt_1' });

    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://posthorn.test/v1/send',
      'GET https://posthorn.test/v1/events/a%2Fb',
    ]);
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer ek_live_x');
    expect(JSON.parse(bodies[0] ?? '')).toEqual(SEND.body);
  });

  it.each([
    ['429', () => refusal(429, 'rate_limited', {}, { 'retry-after': '7' }), 7_000],
    ['503 with Retry-After', () => refusal(503, 'internal', {}, { 'retry-after': '2' }), 2_000],
    [
      '409 while the same request is running',
      () => refusal(409, 'conflict', { reason: 'in_flight' }, { 'retry-after': '1' }),
      1_000,
    ],
    ['500', () => refusal(500, 'internal'), null],
    ['a broken connection', () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }), null],
  ])('retries after %s, with the same body and the same idempotency key', async (_what, first, waitedMs) => {
    const { client, sent, bodies, waitsMs } = scripted([first(), json({ message_id: 'msg_1' }, 202)]);

    expect(await client.post('/v1/send', SEND)).toEqual({ message_id: 'msg_1' });

    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(bodies[1]).toBe(bodies[0]);
    expect(waitsMs).toHaveLength(1);
    if (waitedMs !== null) expect(waitsMs).toEqual([waitedMs]);
    else expect(waitsMs[0]).toBeLessThanOrEqual(500);
  });

  it("keeps the caller's own idempotency key, and sends none with a GET", async () => {
    const { client, sent } = scripted([json({}, 202), json({ data: [] })]);
    await client.post('/v1/send', { ...SEND, headers: { 'idempotency-key': 'mine' } });
    await client.get('/v1/events');

    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', null]);
  });

  it.each([400, 401, 403, 404, 409, 422, 501])('does not retry after %d', async (status) => {
    const { client, sent } = scripted([refusal(status, 'some_type', { check: 'schema' })]);

    const error = await client.post('/v1/send', SEND).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(PosthornError);
    expect(error).toMatchObject({
      status,
      type: 'some_type',
      message: 'A sentence.',
      requestId: 'req_1',
      details: { check: 'schema' },
    });
    expect(sent).toHaveLength(1);
  });

  it('gives up after its attempts with the last error, and does not wait for minutes', async () => {
    const tired = scripted(
      Array.from({ length: 9 }, () => refusal(503, 'internal')),
      { retries: 2 },
    );
    await expect(tired.client.get('/v1/org')).rejects.toMatchObject({ status: 503 });
    expect(tired.sent).toHaveLength(3);

    const rejecting = scripted([refusal(429, 'rate_limited', {}, { 'retry-after': '3600' })]);
    await expect(rejecting.client.get('/v1/org')).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600 });
    expect(rejecting.sent).toHaveLength(1);
  });

  it('describes the response of an intermediary', async () => {
    const { client } = scripted([new Response('<h1>Bad gateway</h1>', { status: 404 })]);

    await expect(client.get('/v1/org')).rejects.toMatchObject({
      status: 404,
      type: 'internal',
      requestId: null,
      message: expect.stringContaining('<h1>Bad gateway</h1>'),
    });
  });

  it.each<[string, Response, string]>([
    [
      'a captive portal page',
      new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
      'answered 200 with what is no JSON (text/html)',
    ],
    ['nothing', new Response('', { status: 200 }), 'answered 200 with nothing'],
    [
      'half a body',
      new Response('{"data": [', { headers: { 'content-type': 'application/json' } }),
      'answered 200 with what is no JSON (application/json)',
    ],
  ])('a 200 that is %s is a PosthornError, and not retried', async (_what, answer, message) => {
    const { client, sent } = scripted([answer]);

    const error = await client.get('/v1/org').catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(PosthornError);
    expect(error).toMatchObject({ status: 200, type: 'unexpected_answer', message: expect.stringContaining(message) });
    expect(sent).toHaveLength(1);
  });

  it('a page of a list without a list is a PosthornError', async () => {
    const { client } = scripted([json({ portal: 'welcome' })]);

    await expect(client.all('/v1/events').next()).rejects.toMatchObject({ type: 'unexpected_answer' });
  });

  it.each([301, 302, 303, 307, 308])(
    '%d is not followed: the key is not sent elsewhere, and the error contains only the origin',
    async (status) => {
      const { client, sent } = scripted([
        new Response(null, { status, headers: { location: 'https://evil.example/steal?token=abc' } }),
      ]);

      const error = await client.post('/v1/send', SEND).catch((thrown: unknown) => thrown);

      expect(error).toBeInstanceOf(PosthornError);
      expect(error).toMatchObject({
        status,
        type: 'unexpected_answer',
        message: expect.stringContaining('a redirect to https://evil.example, which is not followed'),
      });
      expect((error as Error).message).not.toMatch(/steal|abc/);
      expect(sent.map(({ redirect }) => redirect)).toEqual(['manual']);
    },
  );

  it('raw responses and streams do not follow redirects either', async () => {
    const redirect = (): Response => new Response(null, { status: 302, headers: { location: '/elsewhere' } });
    const { client, sent } = scripted([
      redirect(),
      redirect(),
      new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    ]);

    await expect(client.raw('/v1/events/evt_1/payload')).rejects.toMatchObject({
      status: 302,
      message: expect.stringContaining('a redirect to https://posthorn.test,'),
    });
    await expect(client.stream().next()).rejects.toMatchObject({ status: 302 });
    await expect(client.stream().next()).rejects.toMatchObject({ status: 200, type: 'unexpected_answer' });
    expect(sent.map((request) => request.redirect)).toEqual(['manual', 'manual', 'manual']);
  });

  it.each([
    'ek_live_hun\nter2',
    'ek_live_hun\r\nter2',
    'ek_live_hun ter2',
    'ek_live_hun\0ter2',
    'ek_live_hun\u2028ter2',
  ])('rejects the key %j without repeating it', (apiKey) => {
    const make = (): unknown => new PosthornClient({ baseUrl: 'https://posthorn.test', apiKey });

    expect(make).toThrow(TypeError);
    expect(make).not.toThrow(/hun|ter2/);
  });

  it('accepts a key with a trailing line break, as in files, and rejects a missing key', async () => {
    const { sent, client } = scripted([json({})], { apiKey: ' ek_live_x\n' });
    await client.get('/v1/org');

    expect(sent[0]?.headers.get('authorization')).toBe('Bearer ek_live_x');
    for (const apiKey of ['', '\n', undefined])
      expect(() => new PosthornClient({ baseUrl: 'https://posthorn.test', apiKey: apiKey as string })).toThrow(
        'apiKey is missing.',
      );
  });

  it('errors contain neither an invalid header nor the credentials of a URL', async () => {
    const { client } = scripted([]);

    for (const asked of [
      () => client.post('/v1/send', { ...SEND, headers: { 'idempotency-key': 'hun\nter2' } }),
      () => client.raw('/v1/org', { headers: { 'x-token': 'hun\nter2' } }),
    ]) {
      const error = await asked().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).not.toMatch(/hun|ter2/);
    }
    for (const baseUrl of [
      'https://ann:hunter2@posthorn.test',
      'https://ann:hunter2#x@posthorn.test',
      'ftp://posthorn.test',
      'posthorn.test',
    ]) {
      expect(() => new PosthornClient({ baseUrl, apiKey: 'k' })).toThrow(
        'baseUrl must be an http or https URL without user and password.',
      );
    }
  });

  it('ends an attempt at its timeout, and the whole request when the caller aborts', async () => {
    const slow = scripted(['never'], { timeoutMs: 1, retries: 0 });
    await expect(slow.client.get('/v1/org')).rejects.toBeInstanceOf(PosthornTimeoutError);

    const stop = new AbortController();
    const given = scripted(['never']);
    const asked = given.client.get('/v1/org', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect(given.sent.length).toBeLessThanOrEqual(1);

    const unreached = scripted([new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })], {
      retries: 0,
    });
    const error = await unreached.client.get('/v1/org').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PosthornConnectionError);
    expect((error as Error).message).toContain('ECONNREFUSED');
  });

  it('fetches the pages of a list on demand', async () => {
    const { client, sent } = scripted([
      json({ data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'next' }),
      json({ data: [], next_cursor: 'more' }),
      json({ data: [{ id: 'c' }], next_cursor: null }),
    ]);

    const ids: string[] = [];
    for await (const { id } of client.all('/v1/events', { params: { query: { status: ['dlq'], limit: 2 } } }))
      ids.push(id);

    expect(ids).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?status=dlq&limit=2',
      '?status=dlq&limit=2&cursor=next',
      '?status=dlq&limit=2&cursor=more',
    ]);
  });

  it('fetches no page that is not needed', async () => {
    const { client, sent } = scripted([json({ data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'next' })]);
    for await (const { id } of client.all('/v1/events')) if (id === 'a') break;

    expect(sent).toHaveLength(1);
  });
});
