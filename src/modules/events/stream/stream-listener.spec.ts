import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '#kernel/tenant.js';
import { StreamListener } from './stream-listener.js';
import { FRONT, type StreamPosition } from './stream-position.js';

const POSITION: StreamPosition = { epoch: 1, xid: 8412n, atMs: 0, key: FRONT };
/**
 * Number of changes. Their total size exceeds a client's limit of unread data, but fits into a connection's buffers.
 */
const CHANGES = 1_000;

describe('StreamListener', () => {
  async function connected(): Promise<{
    listener: StreamListener;
    answered: IncomingMessage;
    end: () => Promise<void>;
  }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    const [, answer] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    answer.writeHead(200).flushHeaders();
    const [answered] = (await once(request, 'response')) as [IncomingMessage];
    const listener = new StreamListener(
      { caller: {} as Caller, proof: { kind: 'key', value: '' }, filter: {}, resumesAt: null, follows: true },
      answer,
      () => 0,
    );
    return {
      listener,
      answered,
      end: async () => {
        request.destroy();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  it('has room as long as the connection accepts data, even within one tick', async () => {
    const { listener, answered, end } = await connected();
    answered.resume();
    const refused = Array.from({ length: CHANGES }).filter(() => {
      const { hasRoom } = listener;
      listener.begin(POSITION);
      return !hasRoom;
    });

    expect(refused).toEqual([]);
    await end();
  });

  it('has no room for a client that does not read, and buffers little for it', async () => {
    const { listener, answered, end } = await connected();
    answered.pause();
    let sent = 0;
    while (listener.hasRoom && sent < 1_000_000) {
      listener.begin(POSITION);
      sent += 1;
    }

    expect(sent).toBeLessThan(1_000_000);
    await end();
  });
});
