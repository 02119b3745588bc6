import type { Connect, ConnectorOptions } from './dial.js';
import { createConnector } from './dial.js';
import type { EgressAnswer, EgressRequest } from './exchange.js';
import { CANCELLED, Exchange } from './exchange.js';
import { ExchangeEnded, explain } from './failure.js';
import { OriginPool } from './origin-pool.js';
import { type RequestHead, requestHead } from './request-head.js';

export type { EgressAnswer, EgressRequest } from './exchange.js';

export interface EgressAgentOptions extends Pick<ConnectorOptions, 'policy' | 'resolve' | 'ca'> {
  /** Maximum connections to one origin. Further exchanges wait in arrival order. Default: 2048. */
  maxConnectionsPerOrigin?: number;
  /** Maximum number of origins. Above it, the origin that has been idle longest is closed. Default: 1000. */
  maxOrigins?: number;
  /** Time after which an idle connection is closed, in milliseconds. Default: 15 s. */
  idleOriginMs?: number;
}

export interface EgressStats {
  origins: number;
  connections: number;
  inFlight: number;
}

/**
 * The only outgoing HTTP client: HTTP/1.1 over checked connections. Never follows redirects or decompresses, and
 * ignores proxy environment variables. Every exchange ends by its deadline.
 */
export class EgressAgent {
  private readonly connect: Connect;
  private readonly connectionsMax: number;
  private readonly originsMax: number;
  private readonly idleMs: number;
  private readonly pools = new Map<string, OriginPool>();
  private isClosed = false;
  private onDrained: (() => void) | null = null;

  constructor(options: EgressAgentOptions) {
    this.connect = createConnector({ ...options, connectTimeoutMs: CONNECT_TIMEOUT_MS });
    this.connectionsMax = options.maxConnectionsPerOrigin ?? 2048;
    this.originsMax = options.maxOrigins ?? 1000;
    this.idleMs = options.idleOriginMs ?? 15_000;
  }

  /** Sends a request. Never rejects. Accepts only URLs from `checkUrl`. Omits the URL's user, password and fragment. */
  exchange(request: EgressRequest): Promise<EgressAnswer> {
    return new Promise((resolve) => this.begin(request, resolve));
  }

  /** Rejects new exchanges and waits for the exchanges in flight. Each exchange ends by its deadline. */
  close(): Promise<void> {
    this.isClosed = true;
    for (const pool of [...this.pools.values()]) pool.close();
    return this.drained();
  }

  /** Aborts every exchange with an error of kind `connection` and closes every socket. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    for (const pool of [...this.pools.values()]) pool.destroy(STOPPING);
    await this.drained();
  }

  stats(): EgressStats {
    let connections = 0;
    let inFlight = 0;
    for (const pool of this.pools.values()) {
      connections += pool.connections;
      inFlight += pool.inFlight;
    }
    return { origins: this.pools.size, connections, inFlight };
  }

  private begin(request: EgressRequest, resolve: (answer: EgressAnswer) => void): void {
    const startedAt = performance.now();
    const { protocol, origin } = request.url;
    const refusal = this.isClosed ? STOPPING : request.signal?.aborted ? CANCELLED : isHttp(protocol) ? null : NOT_HTTP;
    if (refusal !== null) return resolve({ kind: 'error', ...explain(refusal), durationMs: 0 });
    let head: RequestHead;
    try {
      head = requestHead(request);
    } catch (error) {
      return resolve({ kind: 'error', ...explain(error as Error), durationMs: 0 });
    }
    const pool = this.pools.get(origin) ?? this.openPool(request.url);
    pool.admit(new Exchange(request, head, pool, startedAt, resolve), startedAt);
  }

  private openPool(url: URL): OriginPool {
    if (this.pools.size >= this.originsMax) this.evict();
    const pool = new OriginPool({
      url,
      connect: this.connect,
      connectionsMax: this.connectionsMax,
      idleMs: this.idleMs,
      onEmpty: () => this.forget(pool),
    });
    this.pools.set(pool.origin, pool);
    return pool;
  }

  /** Closes the origin that has been idle longest. If all are in use, closes none and exceeds the maximum. */
  private evict(): void {
    let oldest: OriginPool | null = null;
    for (const pool of this.pools.values()) {
      if (pool.inFlight === 0 && (oldest === null || pool.usedAt < oldest.usedAt)) oldest = pool;
    }
    oldest?.close();
  }

  private forget(pool: OriginPool): void {
    if (this.pools.get(pool.origin) === pool) this.pools.delete(pool.origin);
    if (this.pools.size === 0) this.onDrained?.();
  }

  private drained(): Promise<void> {
    if (this.pools.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.onDrained;
      this.onDrained = () => {
        before?.();
        resolve();
      };
    });
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

const STOPPING = new ExchangeEnded('connection', 'The exchange was aborted: this service is stopping.');
const NOT_HTTP = new ExchangeEnded('blocked', 'Only http and https URLs are supported.');

const isHttp = (protocol: string): boolean => protocol === 'https:' || protocol === 'http:';
