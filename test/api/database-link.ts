import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a database that can fail as networks and servers do. */
export interface DatabaseLink {
  readonly url: string;
  /** Breaks every connection and lets no new one in. */
  cut(): void;
  /** Lets the next statement of this name through and loses its answer, like everything that is answered after it. */
  loseAnswerTo(statement: string): void;
  /** Breaks every connection of before; new ones work. */
  restore(): void;
  close(): Promise<void>;
}

/** Opens a link to the database of a URL. */
export async function openLink(databaseUrl: string): Promise<DatabaseLink> {
  const beyond = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: 'open' | 'deaf' | 'cut' = 'open';
  let lost: string | null = null;
  const server = net.createServer((near) => {
    if (state === 'cut') return near.destroy();
    const far = net.connect(Number(beyond.port || 5432), beyond.hostname);
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => {
      if (lost !== null && bytes.includes(`${lost}\0`)) state = 'deaf';
      far.write(bytes);
    });
    far.on('data', (bytes) => state === 'open' && near.write(bytes));
  });
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cut() {
      state = 'cut';
      breakAll();
    },
    loseAnswerTo(statement) {
      lost = statement;
    },
    restore() {
      state = 'open';
      lost = null;
      breakAll();
    },
    async close() {
      server.close();
      breakAll();
      await once(server, 'close');
    },
  };
}
