import { getEventListeners, once } from 'node:events';
import net from 'node:net';
import { agentWith, cleanUp, never, onCleanUp, receiverWith, statusOf, TLS, to } from '../../test/support/egress.js';
import type { RawReceiver } from '../../test/support/raw-receiver.js';
import { OK, rawReceiver } from '../../test/support/raw-receiver.js';
import type { EgressRequest } from './agent.js';

const REDIRECT = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n';

afterEach(cleanUp);

describe('an exchange', () => {
  it('sends the request and resolves with status, headers and body', async () => {
    const receiver = await receiverWith((socket) => {
      socket.write(
        'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Type: text/plain\r\nX-Two: a\r\nx-two: b\r\nContent-Length: 5\r\n\r\nlater',
      );
    });

    const answer = await agentWith().exchange(to(receiver));

    expect(answer).toMatchObject({ kind: 'response', status: 429, body: Buffer.from('later'), truncated: false });
    expect(answer).toMatchObject({
      headers: { 'retry-after': '7', 'content-type': 'text/plain', 'content-length': '5', 'x-two': 'a, b' },
    });
    expect(answer.durationMs).toBeGreaterThan(0);
    expect(receiver.requests[0]?.text).toBe(
      `POST /hooks/in?token=s3cret HTTP/1.1\r\nhost: 127.0.0.1:${receiver.port}\r\nconnection: keep-alive\r\n` +
        'content-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}',
    );
  });

  it('never sends accept-encoding or a host other than that of the URL', async () => {
    const receiver = await receiverWith();

    await agentWith().exchange(
      to(receiver, { headers: { 'Accept-Encoding': 'gzip', HOST: 'internal.example', host: 'x', 'x-kept': '1' } }),
    );

    expect(receiver.requests[0]?.text.toLowerCase()).not.toMatch(/accept-encoding|internal|host: x/);
    expect(receiver.requests[0]?.text).toContain('x-kept: 1');
  });

  it('does not send the credentials and the fragment of a URL', async () => {
    const receiver = await receiverWith();

    await agentWith().exchange(
      to(receiver, { url: new URL(`http://user:pass@127.0.0.1:${receiver.port}/a#b`), method: 'GET', body: null }),
    );

    expect(receiver.requests[0]?.text).toMatch(/^GET \/a HTTP\/1\.1\r\n/);
    expect(receiver.requests[0]?.text).not.toMatch(/authorization|user|pass/i);
  });

  it.each<[string, string | Buffer, string]>([
    ['a string', '{"a":"\u00e4\u20ac"}', 'plain'],
    ['a string with a Latin-1 header', '{"a":"\u00e4\u20ac"}', 'd\u00e9j\u00e0'],
    ['bytes', Buffer.from('{"a":"\u00e4\u20ac"}'), 'd\u00e9j\u00e0'],
    ['a long string', `{"a":"${'\u20ac'.repeat(30_000)}"}`, 'plain'],
    ['an empty body, with its length', '', 'plain'],
  ])('sends %s byte for byte', async (_what, body, value) => {
    const length = Buffer.byteLength(body);
    const receiver = await receiverWith();

    const answer = await agentWith().exchange(to(receiver, { headers: { 'x-word': value }, body }));

    expect(statusOf(answer)).toBe(200);
    const [head, sent] = (receiver.requests[0]?.text ?? '').split('\r\n\r\n', 2);
    expect(head).toContain(`\r\nx-word: ${value}\r\ncontent-length: ${length}`);
    expect(Buffer.from(sent ?? '', 'latin1')).toEqual(Buffer.from(body));
  });

  it.each([
    ['no body', ''],
    ['a body anyway', 'HTTP/1.1 500 Worse\r\ncontent-length: 0\r\n\r\n'],
  ])('ends the response to HEAD after its headers if there is %s', async (_what, body) => {
    const receiver = await receiverWith(
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${body}`),
    );
    const agent = agentWith();

    for (let i = 0; i < 2; i += 1) {
      expect(await agent.exchange(to(receiver, { method: 'HEAD', body: null }))).toMatchObject({
        status: 200,
        headers: { 'content-length': '500' },
        body: Buffer.alloc(0),
      });
    }
    expect(receiver.connections).toBe(2);
    expect(receiver.requests[0]?.text).not.toContain('content-length');
  });

  it('returns a redirect and does not follow it', async () => {
    const receiver = await receiverWith((socket) => socket.write(REDIRECT));

    const answer = await agentWith().exchange(to(receiver));

    expect(answer).toMatchObject({ kind: 'response', status: 302, headers: { location: 'http://127.0.0.1:9/' } });
    expect(receiver.requests).toHaveLength(1);
  });

  it('waits for the final response after an informational one', async () => {
    const receiver = await receiverWith((socket) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`),
    );

    expect(await agentWith().exchange(to(receiver))).toMatchObject({
      status: 200,
      body: Buffer.from('ok'),
      headers: { 'content-length': '2' },
    });
  });

  it.each([
    ['100 Continue', ['HTTP/1.1 100 Continue\r\n\r\n']],
    ['102 Processing with headers', ['HTTP/1.1 102 Processing\r\nserver: x\r\n\r\n']],
    [
      'several of them',
      ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
    ],
    ['one in pieces', ['HT', 'TP/1.1 10', '0 Continue\r', '\n\r', '\n']],
  ])('skips unexpected informational responses on every request of the connection: %s', async (_what, pieces) => {
    const receiver = await receiverWith((socket) => void inPieces(socket, [...pieces, OK]));
    const agent = agentWith();

    const answers = [
      await agent.exchange(to(receiver)),
      await agent.exchange(to(receiver)),
      await agent.exchange(to(receiver)),
    ];

    for (const answer of answers)
      expect(answer).toMatchObject({ kind: 'response', status: 200, body: Buffer.from('ok') });
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.connections).toBe(1);
  });

  it('does not retry if the connection breaks after a 100 Continue, because the receiver has seen the request', async () => {
    const receiver = await receiverWith((socket, { onConnection }) =>
      onConnection === 1
        ? void socket.write(OK)
        : void socket.write('HTTP/1.1 100 Continue\r\n\r\n', () => socket.resetAndDestroy()),
    );
    const agent = agentWith();

    await agent.exchange(to(receiver));
    const broken = await agent.exchange(to(receiver));

    expect(broken).toMatchObject({ kind: 'error', error: 'connection' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('rejects an unexpected change of protocol', async () => {
    const receiver = await receiverWith((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );

    expect(await agentWith().exchange(to(receiver))).toMatchObject({ kind: 'error', error: 'protocol' });
  });

  it('concatenates a body that arrives in pieces', async () => {
    const receiver = await receiverWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      for (const piece of ['one ', 'two ', 'three']) socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      socket.write('0\r\n\r\n');
    });

    expect(await agentWith().exchange(to(receiver))).toMatchObject({
      status: 200,
      body: Buffer.from('one two three'),
      truncated: false,
    });
  });
});

describe('the body limit', () => {
  it('truncates an endless body, returns the status and closes the connection', async () => {
    const dropped: Promise<unknown>[] = [];
    const receiver = await receiverWith((socket, { connection }) => {
      if (connection > 1) return void socket.write(OK);
      dropped.push(new Promise((done) => socket.once('close', done)));
      const pour = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(10_000)));
      };
      socket
        .on('drain', pour)
        .write('HTTP/1.1 201 Created\r\nconnection: keep-alive\r\ncontent-length: 9000000000\r\n\r\n');
      pour();
    });
    const agent = agentWith();

    const answer = await agent.exchange(to(receiver));
    await Promise.all(dropped);

    expect(answer).toMatchObject({
      kind: 'response',
      status: 201,
      truncated: true,
      body: Buffer.from('x'.repeat(65_536)),
    });
    expect(statusOf(await agent.exchange(to(receiver)))).toBe(200);
    expect(receiver.connections).toBe(2);
  });

  it('does not truncate a body of exactly the limit, and keeps the connection open', async () => {
    const receiver = await receiverWith();
    const agent = agentWith();

    expect(await agent.exchange(to(receiver, { bodyBytesMax: 2 }))).toMatchObject({
      truncated: false,
      body: Buffer.from('ok'),
    });
    expect(await agent.exchange(to(receiver, { bodyBytesMax: 1 }))).toMatchObject({
      status: 200,
      truncated: true,
      body: Buffer.from('o'),
    });
    expect(await agent.exchange(to(receiver, { bodyBytesMax: 0 }))).toMatchObject({
      status: 200,
      truncated: true,
      body: Buffer.alloc(0),
    });
    expect(receiver.connections).toBe(2);
  });
});

describe('the deadline', () => {
  it('ends a response body that trickles in forever', async () => {
    const receiver = await receiverWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const drip = setInterval(() => socket.write('.'), 2);
      socket.on('close', () => clearInterval(drip));
    });

    const answer = await agentWith().exchange(to(receiver, { timeoutMs: 40 }));

    expect(answer).toMatchObject({
      kind: 'error',
      error: 'timeout',
      detail: expect.stringContaining('the body of the answer did not end'),
    });
  });

  it('ends an exchange with an unresponsive receiver, closes the connection and keeps the origin usable', async () => {
    const receiver = await receiverWith((socket, { connection }) =>
      connection === 1 ? undefined : void socket.write(OK),
    );
    const agent = agentWith({ maxConnectionsPerOrigin: 1 });

    const silent = await agent.exchange(to(receiver, { timeoutMs: 30 }));
    const next = await agent.exchange(to(receiver));

    expect(silent).toMatchObject({ error: 'timeout', detail: expect.stringContaining('the receiver did not answer') });
    expect(statusOf(next)).toBe(200);
  });

  it('is not extended by an informational response', async () => {
    const receiver = await receiverWith(
      (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    );

    const answer = await agentWith().exchange(to(receiver, { timeoutMs: 40 }));

    expect(answer).toMatchObject({ error: 'timeout', detail: expect.stringContaining('the receiver did not answer') });
  });

  it('includes the wait for a connection, and a request that waited too long is never sent', async () => {
    const answers: (() => void)[] = [];
    const receiver = await receiverWith((socket) => void answers.push(() => void socket.write(OK)));
    const agent = agentWith({ maxConnectionsPerOrigin: 1 });

    const first = agent.exchange(to(receiver));
    while (answers.length === 0) await new Promise(setImmediate);
    const waited = await agent.exchange(to(receiver, { timeoutMs: 20, body: 'waited' }));
    answers[0]?.();

    expect(waited).toMatchObject({
      error: 'timeout',
      detail: expect.stringContaining('every connection to the receiver was in use'),
    });
    expect(statusOf(await first)).toBe(200);
    expect(receiver.requests).toHaveLength(1);
  });

  it('includes the DNS lookup, and a request whose name was resolved too late is never sent', async () => {
    const receiver = await receiverWith();
    let resolved = never;
    const agent = agentWith({
      resolve: () =>
        new Promise((done) => {
          resolved = () => done([{ address: '127.0.0.1', family: 4 }]);
        }),
    });
    const url = new URL(`http://hooks.example.com:${receiver.port}/`);

    const late = await agent.exchange(to(receiver, { url, timeoutMs: 20, body: 'late' }));
    resolved();
    const next = agent.exchange(to(receiver, { url, body: 'next' }));
    resolved();

    expect(late).toMatchObject({
      error: 'timeout',
      detail: expect.stringContaining('the connection was not established'),
    });
    expect(statusOf(await next)).toBe(200);
    expect(receiver.requests.map(({ text }) => text.slice(-4))).toEqual(['next']);
  });
});

describe('mayBegin', () => {
  it('is called when a connection is ready: if it returns false, nothing is sent and the next exchange gets the connection', async () => {
    const sockets: net.Socket[] = [];
    let onRequest = never;
    const receiver = await receiverWith((socket) => {
      sockets.push(socket);
      onRequest();
    });
    const requested = (): Promise<void> => new Promise((resolve) => (onRequest = resolve));
    const agent = agentWith({ maxConnectionsPerOrigin: 1 });
    let may = true;

    const isThere = requested();
    const first = agent.exchange(to(receiver, { mayBegin: () => may }));
    const waiting = agent.exchange(to(receiver, { body: 'withheld', mayBegin: () => may }));
    await isThere;
    may = false;
    sockets[0]?.write(OK);

    expect(statusOf(await first)).toBe(200);
    expect(await waiting).toMatchObject({ kind: 'error', detail: expect.stringContaining('was not sent') });
    const isNext = requested();
    const next = agent.exchange(to(receiver, { body: 'next' }));
    await isNext;
    sockets[1]?.write(OK);
    expect(statusOf(await next)).toBe(200);
    expect(receiver.requests.map(({ connection, onConnection }) => [connection, onConnection])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });
});

describe('failures', () => {
  it('a new connection that breaks is a connection error, and the request is not retried', async () => {
    const receiver = await receiverWith((socket) => socket.destroy());

    expect(statusOf(await agentWith().exchange(to(receiver)))).toBe('connection');
    expect(receiver.requests).toHaveLength(1);
  });

  it('a refused connection is a connection error that reveals nothing about the request', async () => {
    const receiver = await rawReceiver();
    await receiver.close();

    const answer = await agentWith().exchange(to(receiver, { headers: { authorization: 'Bearer s3cret' } }));

    expect(answer).toMatchObject({ kind: 'error', error: 'connection', detail: expect.stringContaining('refused') });
    expect(JSON.stringify(answer)).not.toContain('s3cret');
  });

  it('a name without an address is a DNS error', async () => {
    const agent = agentWith({ resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) });

    const answer = await agent.exchange({ ...to(await receiverWith()), url: new URL('https://hooks.example.com/') });

    expect(answer).toMatchObject({ error: 'dns', detail: expect.stringContaining('ENOTFOUND') });
  });

  it.each([
    ['a private address', 'http://10.1.2.3:8080/'],
    ['a name that resolves to a blocked address', 'http://rebind.example:8080/'],
    ['another scheme', 'ftp://example.com/'],
  ])('%s is blocked', async (_what, url) => {
    const agent = agentWith({ resolve: async () => [{ address: '10.1.2.3', family: 4 }] });

    expect(statusOf(await agent.exchange(to(await receiverWith(), { url: new URL(url) })))).toBe('blocked');
    expect(agent.stats().connections).toBe(0);
  });

  it.each([
    ['a response that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['two conflicting lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'],
    ['an unexpected upgrade', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`],
  ])('%s is a protocol error', async (_what, bytes) => {
    const receiver = await receiverWith((socket) => void socket.write(bytes));

    expect(statusOf(await agentWith().exchange(to(receiver)))).toBe('protocol');
  });

  it.each([
    ['a line break in a value', { 'x-token': 's3cret\r\nx-evil: 1' }],
    ['a space in a name', { 'x token': 's3cret' }],
    ['a transfer coding', { 'transfer-encoding': 'chunked' }],
    ['a wrong length', { 'content-length': '3' }],
  ])('a request with %s is a protocol error and is not sent', async (_what, headers) => {
    const receiver = await receiverWith();
    const agent = agentWith();

    const answer = await agent.exchange(to(receiver, { headers }));

    expect(statusOf(answer)).toBe('protocol');
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    expect(receiver.requests).toHaveLength(0);
    expect(agent.stats().inFlight).toBe(0);
  });

  it('a cancelled exchange ends immediately, before it begins or while it runs', async () => {
    const started = new AbortController();
    const receiver = await receiverWith(() => started.abort());
    const agent = agentWith();

    expect(await agent.exchange(to(receiver, { signal: started.signal }))).toMatchObject({
      error: 'connection',
      detail: expect.stringContaining('canceled'),
    });
    expect(await agent.exchange(to(receiver, { signal: AbortSignal.abort() }))).toMatchObject({ error: 'connection' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('removes its listener from a signal that lives longer than the exchange', async () => {
    const { signal } = new AbortController();

    await agentWith().exchange(to(await receiverWith(), { signal }));

    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('TLS', () => {
  const over = (receiver: RawReceiver, host: string): Partial<EgressRequest> => ({
    url: new URL(`https://${host}:${receiver.port}/`),
  });

  it('rejects a self-signed certificate, and accepts it from a trusted authority', async () => {
    const receiver = await receiverWith(undefined, { tls: TLS });

    const refused = await agentWith().exchange(to(receiver, over(receiver, 'localhost')));
    const taken = await agentWith({ ca: TLS.cert }).exchange(to(receiver, over(receiver, 'localhost')));
    const byAddress = await agentWith({ ca: TLS.cert }).exchange(to(receiver, over(receiver, '127.0.0.1')));

    expect(refused).toMatchObject({ error: 'tls', detail: expect.stringContaining('self-signed') });
    expect([taken, byAddress].map(statusOf)).toEqual([200, 200]);
    expect(receiver.requests).toHaveLength(2);
  });

  it('rejects a certificate for a name other than that of the URL', async () => {
    const receiver = await receiverWith(undefined, { tls: TLS });
    const agent = agentWith({ ca: TLS.cert, resolve: async () => [{ address: '127.0.0.1', family: 4 }] });

    const answer = await agent.exchange(
      to(receiver, { ...over(receiver, 'hooks.example.com'), headers: { host: 'localhost' } }),
    );

    expect(answer).toMatchObject({ error: 'tls', detail: expect.stringContaining('another host name') });
  });

  it('skips an unexpected 100 Continue', async () => {
    const receiver = await receiverWith((socket) => void inPieces(socket, ['HTTP/1.1 100 Continue\r\n\r\n', OK]), {
      tls: TLS,
    });

    const answer = await agentWith({ ca: TLS.cert }).exchange(to(receiver, over(receiver, 'localhost')));

    expect(statusOf(answer)).toBe(200);
  });

  it('fails with a TLS error if the receiver does not support TLS', async () => {
    const server = net.createServer((socket) =>
      socket.on('error', never).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onCleanUp(async () => void server.close());
    const { port } = server.address() as net.AddressInfo;

    const answer = await agentWith().exchange({
      ...to(await receiverWith()),
      url: new URL(`https://127.0.0.1:${port}/`),
    });

    expect(statusOf(answer)).toBe('tls');
  });
});

/** Writes each piece in a separate packet, as far as possible. */
async function inPieces(socket: net.Socket, pieces: readonly string[]): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
