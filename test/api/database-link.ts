import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import net from 'node:net';

/** A way to a database that can fail as networks and servers do. */
export interface DatabaseLink {
  readonly url: string;
  /** Breaks every connection and lets no new one in. */
  cut(): void;
  /** As when the power goes off: nothing passes any more, also on new connections, and none is closed. */
  silence(): void;
  /** New connections work; those of before stay as dead as they are. */
  admit(): void;
  /** Lets the next statement of this name through and loses its answer, like everything that is answered after it. */
  loseAnswerTo(statement: string): void;
  /** Counts from now on how often statements of this name are run; asks for the count. */
  countRunsOf(statement: string): () => number;
  /** Breaks every connection of before; new ones work. */
  restore(): void;
  /** The same, and from now on to the server at this port. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

/** Opens a link to the database of a URL. */
export async function openLink(databaseUrl: string): Promise<DatabaseLink> {
  const beyond = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  /** Counts the silences: what was opened before the last one is dead. */
  let epoch = 0;
  let state: 'open' | 'deaf' | 'cut' | 'silent' = 'open';
  let lost: string | null = null;
  const runs = new Map<string, number>();
  const server = net.createServer((near) => {
    if (state === 'cut') return near.destroy();
    const openedIn = epoch;
    const passes = (): boolean => state !== 'silent' && openedIn === epoch;
    const far = net.connect(Number(beyond.port || 5432), beyond.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          if (passes() || state === 'cut') other.destroy();
        });
    }
    near.on('data', (bytes) => {
      if (lost !== null && bytes.includes(`${lost}\0`)) state = 'deaf';
      // As Bind names them, behind the name of the portal, which is empty.
      for (const [name, count] of runs)
        runs.set(name, count + bytes.toString('latin1').split(`\0${name}\0`).length - 1);
      if (passes()) far.write(bytes);
    });
    far.on('data', (bytes) => state === 'open' && passes() && near.write(bytes));
  });
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const restore = (): void => {
    state = 'open';
    lost = null;
    breakAll();
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
    silence() {
      epoch += 1;
      state = 'silent';
    },
    admit() {
      state = 'open';
    },
    loseAnswerTo(statement) {
      lost = statement;
    },
    countRunsOf(statement) {
      runs.set(statement, 0);
      return () => runs.get(statement) ?? 0;
    },
    restore,
    leadTo(port) {
      beyond.port = String(port);
      restore();
    },
    async close() {
      server.close();
      breakAll();
      await once(server, 'close');
    },
  };
}
