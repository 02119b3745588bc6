import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import net from 'node:net';

/** A TCP proxy in front of a database. It simulates failures of the network and of the server. */
export interface DatabaseLink {
  readonly url: string;
  /** Breaks every connection and refuses new connections. */
  cut(): void;
  /**
   * Simulates a power failure of the server: drops all traffic, but closes no connection. New connections get no answer
   * either.
   */
  silence(): void;
  /** Lets new connections work. Connections opened before this call stay dead. */
  admit(): void;
  /** Forwards the next statement with this name, then drops its response and all later responses. */
  loseAnswerTo(statement: string): void;
  /** Starts to count how often statements with this name run. Returns a function that reads the count. */
  countRunsOf(statement: string): () => number;
  /** Breaks every existing connection. New connections work. */
  restore(): void;
  /** Breaks every existing connection. New connections go to the server at this port. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

export async function openLink(databaseUrl: string): Promise<DatabaseLink> {
  const beyond = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  /**
   * Number of `silence()` calls so far. A connection is dead if the number was lower when the connection was opened.
   */
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
      // A Bind message contains the statement name after the portal name, which is empty.
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
