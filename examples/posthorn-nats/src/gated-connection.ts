import type { Socket } from 'node:net';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, NatsConnectionImpl, setTransportFactory } from '@nats-io/nats-core/internal';
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';
import type { Dialer } from 'posthorn';
import { NATS_PORT, type ServerAddress } from './settings.js';

/** Options for opening a connection. */
export interface ConnectOptions {
  servers: readonly ServerAddress[];
  credentials: Record<string, string> | null;
  /** Time limit for trying all servers together. */
  timeoutMs: number;
}

/** A route to one server through the service's egress checks, with the socket that the route opened. */
interface Door {
  server: ServerAddress;
  open: () => Promise<Socket>;
  socket: Socket | null;
}

const PING_EVERY_MS = 20_000;
/**
 * The open routes, by a generated name. The NATS client gets this name instead of the server's address, and only this
 * transport can resolve it. Therefore every connection passes the egress gate.
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
    if (door === undefined) throw new Error('This route is closed.');
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
 * Connects to the first server that accepts the connection. The connection never reconnects automatically and never
 * follows servers advertised by a cluster, because each new connection must go through this function. Rejects with
 * `DialFailed`, or with the error of the client or server.
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
    // The client leaves the socket open if the client times out before the server's first line.
    door.socket?.destroy();
    throw error;
  } finally {
    DOORS.delete(name);
  }
}

/** Returns the JetStream API of a connection. */
export function streamsOf(connection: NatsConnection, timeoutMs: number): Promise<JetStreamManager> {
  return jetstreamManager(connection, { timeout: timeoutMs, checkAPI: false });
}

function signIn(credentials: ConnectOptions['credentials']): { user?: string; pass?: string; token?: string } {
  if (credentials === null) return {};
  return credentials['token'] === undefined
    ? { user: credentials['user'], pass: credentials['password'] }
    : { token: credentials['token'] };
}
