import { type AddressInfo, createServer, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { agentWith, cleanUp, never, onCleanUp, receiverWith, statusOf, TLS, to } from '../../test/support/egress.js';
import { OK, type RawReceiver, type ReceivedRequest } from '../../test/support/raw-receiver.js';

afterEach(cleanUp);

describe('a kept-alive connection that the receiver has closed', () => {
  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])('is replaced by a new one without an error when it %s during the request', async (_how, close) => {
    const receiver = await receiverWith((socket, { onConnection }) =>
      onConnection === 1 ? void socket.write(OK) : close(socket),
    );
    const agent = agentWith();

    const answers = [await agent.exchange(to(receiver)), await agent.exchange(to(receiver))];

    expect(answers.map(statusOf)).toEqual([200, 200]);
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
    expect(receiver.requests[2]?.text).toBe(receiver.requests[1]?.text);
  });

  it('is retried once, not forever', async () => {
    const receiver = await receiverWith((socket, { connection, onConnection }) => {
      if (connection === 1 && onConnection === 1) socket.write(OK);
      else socket.destroy();
    });
    const agent = agentWith();

    await agent.exchange(to(receiver));

    expect(statusOf(await agent.exchange(to(receiver)))).toBe('connection');
    expect(receiver.requests).toHaveLength(3);
  });

  it('is not retried again when the new connection is reset during its handshake', async () => {
    const receiver = await receiverWith(
      (socket, { onConnection }) => void (onConnection === 1 ? socket.write(OK) : socket.destroy()),
      { tls: TLS },
    );
    const agent = agentWith({ ca: TLS.cert });
    const url = new URL(`https://127.0.0.1:${receiver.port}/`);
    await agent.exchange(to(receiver, { url }));
    let handshakes = 0;
    receiver.server.prependListener('connection', (socket: Socket) => {
      handshakes += 1;
      socket.resetAndDestroy();
    });

    expect(statusOf(await agent.exchange(to(receiver, { url })))).toBe('connection');
    expect(handshakes).toBe(1);
  });

  it('is not retried when a response has begun', async () => {
    const receiver = await receiverWith(
      (socket, { onConnection }) => void (onConnection === 1 ? socket.write(OK) : socket.end('HTTP/1.1 20')),
    );
    const agent = agentWith();

    await agent.exchange(to(receiver));

    expect(await agent.exchange(to(receiver))).toMatchObject({ kind: 'error' });
    expect(receiver.requests).toHaveLength(2);
  });
});

describe('connections', () => {
  it('are reused by later requests', async () => {
    const receiver = await receiverWith();
    const agent = agentWith();

    for (let i = 0; i < 10; i++) expect(statusOf(await agent.exchange(to(receiver)))).toBe(200);

    expect(receiver.connections).toBe(1);
    expect(agent.stats()).toEqual({ origins: 1, connections: 1, inFlight: 0 });
  });

  it('try the next checked address when the first does not respond', async () => {
    const receiver = await receiverWith();
    const agent = agentWith({
      resolve: async () => [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ],
    });

    expect(
      statusOf(await agent.exchange(to(receiver, { url: new URL(`http://hooks.example.com:${receiver.port}/`) }))),
    ).toBe(200);
    expect(receiver.requests[0]?.text).toContain(`\r\nhost: hooks.example.com:${receiver.port}\r\n`);
  });

  it('are read concurrently without mixing their data, in plain text and with TLS', async () => {
    const receivers = [
      await receiverWith((socket, request) => void drip(socket, request)),
      await receiverWith((socket, request) => void drip(socket, request), { tls: TLS }),
    ];
    const agent = agentWith({ ca: TLS.cert });
    const bodies = Array.from({ length: 24 }, (_none, i) => String.fromCharCode(97 + i).repeat(40 + i));

    const answers = await Promise.all(
      bodies.map((body, i) => {
        const receiver = receivers[i % 2] as RawReceiver;
        return agent.exchange(
          to(receiver, { url: new URL(`http${i % 2 === 1 ? 's' : ''}://127.0.0.1:${receiver.port}/`), body }),
        );
      }),
    );

    expect(answers.map((answer) => answer.kind === 'response' && answer.body.toString())).toEqual(bodies);
  });

  it('support an IPv6 literal', async () => {
    const receiver = await receiverWith(undefined, { host: '::1' });

    expect(statusOf(await agentWith().exchange(to(receiver, { url: new URL(`http://[::1]:${receiver.port}/`) })))).toBe(
      200,
    );
  });

  it('are closed after a minute even if busy, so that a receiver that moved is found', async () => {
    const receiver = await receiverWith();
    const agent = agentWith();
    await agent.exchange(to(receiver));
    const later = performance.now() + 61_000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(later);

    await agent.exchange(to(receiver));
    await agent.exchange(to(receiver));
    clock.mockRestore();

    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  it('never exceed the maximum, even if connecting fails', async () => {
    let open = 0;
    let most = 0;
    const receiver = await receiverWith((socket, { connection }) => {
      most = Math.max(most, receiver.openSockets.size);
      open += 1;
      setImmediate(() => (connection % 3 === 0 ? socket.destroy() : socket.write(OK)));
    });
    const agent = agentWith({ maxConnectionsPerOrigin: 3 });

    const answers = await Promise.all(Array.from({ length: 60 }, () => agent.exchange(to(receiver))));

    expect(new Set(answers.map(statusOf))).toEqual(new Set([200, 'connection']));
    expect(open).toBeGreaterThanOrEqual(60);
    expect(most).toBeLessThanOrEqual(4); // A socket that the agent destroyed may still be open on the server.
    expect(agent.stats().connections).toBeLessThanOrEqual(3);
    expect(agent.stats().inFlight).toBe(0);
  });

  it('are closed after the idle time, and their origin is removed', async () => {
    const closed: Promise<unknown>[] = [];
    const receiver = await receiverWith((socket) => {
      closed.push(new Promise((done) => socket.once('close', done)));
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 0\r\n\r\n');
    });
    const agent = agentWith({ idleOriginMs: 10 });

    await agent.exchange(to(receiver));
    await Promise.all(closed);
    while (agent.stats().origins > 0) await new Promise(setImmediate);

    expect(agent.stats()).toEqual({ origins: 0, connections: 0, inFlight: 0 });
  });

  it('are closed as early as the server announces', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask'] });
    const receiver = await receiverWith((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ncontent-length: 0\r\n\r\n'),
    );
    const agent = agentWith({ idleOriginMs: 60_000 });
    await agent.exchange(to(receiver));

    jest.advanceTimersByTime(2_900);
    const before = agent.stats().connections;
    jest.advanceTimersByTime(200);
    const after = agent.stats();
    jest.useRealTimers();

    expect(before).toBe(1);
    expect(after).toEqual({ origins: 0, connections: 0, inFlight: 0 });
  });

  it.each([
    ['unexpected bytes after a response', `${OK}HTTP/1.1 200 OK\r\n`],
    ['a connection that closes', OK.replace('content-length', 'connection: close\r\ncontent-length')],
  ])('are not reused after %s', async (_what, bytes) => {
    const receiver = await receiverWith((socket) => void socket.write(bytes));
    const agent = agentWith();

    const answers = [await agent.exchange(to(receiver)), await agent.exchange(to(receiver))];

    expect(answers).toMatchObject([
      { status: 200, body: Buffer.from('ok') },
      { status: 200, body: Buffer.from('ok') },
    ]);
    expect(receiver.connections).toBe(2);
  });

  it('are not reused when unexpected bytes arrive', async () => {
    let unasked = never;
    const closed: Promise<unknown>[] = [];
    const receiver = await receiverWith((socket) => {
      closed.push(new Promise((done) => socket.once('close', done)));
      unasked = () => void socket.write(OK);
      socket.write(OK);
    });
    const agent = agentWith();

    await agent.exchange(to(receiver));
    unasked();
    await Promise.all(closed);

    expect(agent.stats().connections).toBe(0);
    expect(statusOf(await agent.exchange(to(receiver)))).toBe(200);
    expect(receiver.connections).toBe(2);
  });

  it('are not reused when the response arrived before the request was read', async () => {
    const server = createServer((socket) => {
      socket.on('error', never).once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Much\r\ncontent-length: 0\r\n\r\n');
      });
    });
    onCleanUp(async () => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const agent = agentWith();

    const answer = await agent.exchange({
      method: 'POST',
      url,
      headers: {},
      body: Buffer.alloc(32 * 1024 * 1024),
      timeoutMs: 5000,
      bodyBytesMax: 10,
    });

    expect(statusOf(answer)).toBe(413);
    expect(agent.stats()).toEqual({ origins: 0, connections: 0, inFlight: 0 });
  });

  it('of the longest idle origin are closed for a new origin, those in use are not', async () => {
    let answerBusy = never;
    const busy = await receiverWith((socket) => (answerBusy = () => void socket.write(OK)));
    const [old, recent, added] = [await receiverWith(), await receiverWith(), await receiverWith()];
    const agent = agentWith({ maxOrigins: 3 });

    const pending = agent.exchange(to(busy));
    await agent.exchange(to(old));
    await agent.exchange(to(recent));
    await agent.exchange(to(added));
    const { origins } = agent.stats();
    await agent.exchange(to(recent));
    answerBusy();

    expect(origins).toBe(3);
    expect(statusOf(await pending)).toBe(200);
    expect(recent.connections).toBe(1);
    await agent.exchange(to(old));
    expect(old.connections).toBe(2);
  });
});

describe('stopping the agent', () => {
  it('close lets running and waiting exchanges finish, and rejects new ones', async () => {
    const answers: (() => void)[] = [];
    const receiver = await receiverWith((socket, { onConnection }) => {
      if (onConnection === 1 && answers.length === 0) answers.push(() => void socket.write(OK));
      else socket.write(OK);
    });
    const agent = agentWith({ maxConnectionsPerOrigin: 1 });
    const running = [agent.exchange(to(receiver)), agent.exchange(to(receiver))];
    while (answers.length === 0) await new Promise(setImmediate);

    const closed = agent.close();
    const late = await agent.exchange(to(receiver));
    answers[0]?.();
    await closed;

    expect((await Promise.all(running)).map(statusOf)).toEqual([200, 200]);
    expect(late).toMatchObject({ error: 'connection', detail: expect.stringContaining('stopping') });
    expect(agent.stats()).toEqual({ origins: 0, connections: 0, inFlight: 0 });
  });

  it('destroy aborts running and waiting exchanges', async () => {
    let begun = never;
    const receiver = await receiverWith(() => begun());
    const agent = agentWith({ maxConnectionsPerOrigin: 1 });
    const running = [agent.exchange(to(receiver)), agent.exchange(to(receiver))];
    await new Promise<void>((done) => (begun = done));

    await agent.destroy();

    expect((await Promise.all(running)).map(statusOf)).toEqual(['connection', 'connection']);
    expect(agent.stats()).toEqual({ origins: 0, connections: 0, inFlight: 0 });
  });
});

async function drip(socket: Socket, { text }: ReceivedRequest): Promise<void> {
  const body = text.split('\r\n\r\n')[1] ?? '';
  const half = Math.floor(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half)].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const whole = `HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
  socket.setNoDelay(true);
  for (let at = 0; at < whole.length; at += 13) {
    socket.write(whole.slice(at, at + 13));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
