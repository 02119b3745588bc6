import type { Socket } from 'node:net';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, NatsConnectionImpl, setTransportFactory } from '@nats-io/nats-core/internal';
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';
import type { Dialer } from 'posthorn';
import { NATS_PORT, type ServerAddress } from './settings.js';

/** How to open a connection. */
export interface ConnectOptions {
  servers: readonly ServerAddress[];
  credentials: Record<string, string> | null;
  /** For all servers together. */
  timeoutMs: number;
}

/** A way through the gate to one server, and the socket that went through it. */
interface Door {
  server: ServerAddress;
  open: () => Promise<Socket>;
  socket: Socket | null;
}

const PING_EVERY_MS = 20_000;
/**
 * The client never learns where a server is. It is given the name of a door, which leads nowhere by itself: only this
 * transport can use it. So there is no connection beside the gate, whatever else in the process uses the client.
 */
const DOORS = new Map<string, Door>();
let doorsMade = 0;

class GatedTransport extends NodeTransport {
  private door: Door;

  override async connect(
    { hostname }: { hostname: string },
    options: Parameters<NodeTransport['connect']>[1],
  ): Promise<void> {
    const door = DOORS.get(hostname);
    if (door === undefined) throw new Error('This door is closed.');
    this.door = door;
    const { server } = door;
    await super.connect({ hostname: server.hostname, port: server.port, tlsName: server.hostname }, options);
  }

  override async dial(): Promise<Socket> {
    this.door.socket = await this.door.open();
    return this.door.socket;
  }
}

/**
 * Connects to the first server that takes us. The connection never connects again by itself and follows no server that
 * a cluster tells of: a new one is made through here. Rejects with `DialFailed`, or with what the client or server said.
 */
export async function connectThrough(
  dialer: Dialer,
  { servers, credentials, timeoutMs }: ConnectOptions,
): Promise<NatsConnection> {
  const deadlineMs = performance.now() + timeoutMs;
  let failure: unknown;
  for (const [index, server] of servers.entries()) {
    const restMs = (deadlineMs - performance.now()) / (servers.length - index);
    try {
      return await connectOnce(dialer, server, credentials, Math.max(Math.floor(restMs), 1));
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function connectOnce(
  dialer: Dialer,
  server: ServerAddress,
  credentials: ConnectOptions['credentials'],
  timeoutMs: number,
): Promise<NatsConnection> {
  doorsMade += 1;
  const name = `door-${doorsMade}.invalid`;
  const door: Door = {
    server,
    open: () => dialer.open({ ...server, protocolPort: NATS_PORT }, { timeoutMs }),
    socket: null,
  };
  DOORS.set(name, door);
  setTransportFactory({ factory: () => new GatedTransport() });
  try {
    return await NatsConnectionImpl.connect({
      servers: [name],
      name: 'posthorn',
      timeout: timeoutMs,
      reconnect: false,
      resolve: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      pingInterval: PING_EVERY_MS,
      ...(server.isEncrypted ? { tls: {} } : {}),
      ...signIn(credentials),
    });
  } catch (error) {
    // The client forgets a socket that it gave up before the server's first line.
    door.socket?.destroy();
    throw error;
  } finally {
    DOORS.delete(name);
  }
}

/** JetStream's own API over a connection. */
export function streamsOf(connection: NatsConnection, timeoutMs: number): Promise<JetStreamManager> {
  return jetstreamManager(connection, { timeout: timeoutMs, checkAPI: false });
}

function signIn(credentials: ConnectOptions['credentials']): { user?: string; pass?: string; token?: string } {
  if (credentials === null) return {};
  return credentials['token'] === undefined
    ? { user: credentials['user'], pass: credentials['password'] }
    : { token: credentials['token'] };
}
