import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/nats-core';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Dialer, type Id } from 'posthorn';
import { type ConnectOptions, connectThrough } from './gated-connection.js';

/** A destination that owns a connection, with its connection settings. */
export interface ConnectionOwner extends Pick<ConnectOptions, 'servers' | 'credentials'> {
  environmentId: number;
  destinationId: Id;
}

interface Entry {
  owner: string;
  connecting: Promise<NatsConnection>;
  inUse: number;
  usedAtMs: number;
  idle: NodeJS.Timeout | null;
  isRetired: boolean;
}

const CONNECTIONS_MAX = 256;
const IDLE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Keeps one connection per destination. All deliveries share it, because NATS multiplexes requests. A connection closes
 * 30 seconds after its last delivery, when the destination changes, when there are too many connections, and on
 * shutdown.
 */
@Injectable()
export class Connections implements OnApplicationShutdown {
  private readonly entries = new Map<string, Entry>();
  private isStopped = false;

  constructor(
    private readonly dialer: Dialer,
    private readonly clock: Clock,
  ) {}

  /** Runs `work` with the connection. Rejects if the connection fails, or with the error of `work`. */
  async use<T>(owner: ConnectionOwner, work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    if (this.isStopped) throw new Error('The service is stopping.');
    const key = keyOf(owner);
    const entry = this.entries.get(key) ?? this.connect(key, owner);
    entry.inUse += 1;
    if (entry.idle) clearTimeout(entry.idle);
    try {
      return await work(await entry.connecting);
    } finally {
      entry.inUse -= 1;
      entry.usedAtMs = this.clock.nowMs();
      this.rest(key, entry);
    }
  }

  /**
   * Retires the connections of a destination. Running work finishes on the old connection. Later work opens a new one.
   * `null` means all destinations.
   */
  retire(destination: { environmentId: number; destinationId: Id } | null): void {
    const owner = destination && ownerOf(destination);
    for (const [key, entry] of [...this.entries]) if (owner === null || entry.owner === owner) this.release(key, entry);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    const entries = [...this.entries.values()];
    for (const [key, entry] of [...this.entries]) this.forget(key, entry);
    await Promise.all(entries.map((entry) => close(entry)));
  }

  private connect(key: string, owner: ConnectionOwner): Entry {
    if (this.entries.size >= CONNECTIONS_MAX) this.evict();
    const connecting = connectThrough(this.dialer, { ...owner, timeoutMs: CONNECT_TIMEOUT_MS });
    const entry: Entry = {
      owner: ownerOf(owner),
      connecting,
      inUse: 0,
      usedAtMs: this.clock.nowMs(),
      idle: null,
      isRetired: false,
    };
    this.entries.set(key, entry);
    // Removes connections that have ended or failed to open. The next delivery opens a new connection.
    connecting
      .then(
        (connection) => connection.closed(),
        () => undefined,
      )
      .finally(() => this.forget(key, entry))
      .catch(() => undefined);
    return entry;
  }

  private rest(key: string, entry: Entry): void {
    if (entry.inUse > 0) return;
    if (entry.isRetired) return void close(entry);
    if (entry.idle) clearTimeout(entry.idle);
    entry.idle = setTimeout(() => this.release(key, entry), IDLE_MS);
    entry.idle.unref();
  }

  /**
   * Closes the least recently used idle connection. If all connections are in use, closes none, and the limit is
   * exceeded. This is safe, because other code limits the deliveries in flight.
   */
  private evict(): void {
    const idle = [...this.entries]
      .filter(([, { inUse }]) => inUse === 0)
      .sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    if (idle[0]) this.release(...idle[0]);
  }

  private release(key: string, entry: Entry): void {
    this.forget(key, entry);
    entry.isRetired = true;
    if (entry.inUse === 0) void close(entry);
  }

  private forget(key: string, entry: Entry): void {
    if (entry.idle) clearTimeout(entry.idle);
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }
}

async function close({ connecting }: Entry): Promise<void> {
  await connecting.then((connection) => connection.close()).catch(() => undefined);
}

function ownerOf({ environmentId, destinationId }: Pick<ConnectionOwner, 'environmentId' | 'destinationId'>): string {
  return `${environmentId}:${destinationId}`;
}

/** Returns a hash, so that keys in an inspector or a heap dump contain no credentials. */
function keyOf(owner: ConnectionOwner): string {
  const what = createHash('sha256')
    .update(JSON.stringify([owner.servers, owner.credentials]))
    .digest('base64');
  return `${ownerOf(owner)}:${what}`;
}
