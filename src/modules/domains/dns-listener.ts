import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { platformZone, type ZoneRecord } from '#engine/mail/platform-zone.js';
import { MemoryRateLimiter } from '#http/rate-limiter.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { DkimKeys } from './dkim-keys.js';
import { replyTo } from './zone-replies.js';

/**
 * Query limits per client network. Above `WHOLE`, replies request a retry over TCP. Above `SHORT`, there is no reply.
 */
const WHOLE = { count: 100, periodMs: 1_000 };
const SHORT = { count: 200, periodMs: 1_000 };
const NETWORKS_MAX = 10_000;
const CONNECTIONS_MAX = 100;
const IDLE_MS = 10_000;
/** Maximum size of a query. Queries of normal clients are much smaller, even with EDNS options. */
const QUERY_BYTES_MAX = 2_048;
const PORT_TRIES = 10;

/**
 * DNS server that answers only for the zone of PLATFORM_DOMAIN, over UDP and TCP, and never queries other servers. Rate
 * limits and short replies prevent amplification attacks with spoofed client addresses.
 */
@Injectable()
export class DnsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(DnsListener.name);
  private readonly whole: MemoryRateLimiter;
  private readonly short: MemoryRateLimiter;
  private readonly connections = new Set<Socket>();
  private udp: UdpSocket | null = null;
  private tcp: Server | null = null;
  private zone: { records: readonly ZoneRecord[]; keys: string } | null = null;

  constructor(
    private readonly config: Config,
    private readonly keys: DkimKeys,
    private readonly clock: Clock,
  ) {
    this.whole = new MemoryRateLimiter(() => clock.monotonicMs(), NETWORKS_MAX);
    this.short = new MemoryRateLimiter(() => clock.monotonicMs(), NETWORKS_MAX);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { dnsPort, platformDomain } = this.config;
    if (dnsPort === null) return;
    const port = await this.listen(dnsPort);
    this.config.alsoListensOn(port);
    this.logger.log(`The zone of ${platformDomain} on port ${port}`);
  }

  async onApplicationShutdown(): Promise<void> {
    const { udp, tcp } = this;
    for (const socket of this.connections) socket.destroy();
    if (udp) await new Promise<void>((resolve) => udp.close(resolve));
    if (tcp) await new Promise((resolve) => tcp.close(resolve));
  }

  /** Binds TCP and UDP to the same port, and returns the port. Tries another random port if the UDP port is in use. */
  private async listen(asked: number): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const tcp = createServer((socket) => this.serve(socket));
      tcp.listen(asked, this.config.host);
      await once(tcp, 'listening');
      const { port } = tcp.address() as AddressInfo;
      const udp = createSocket(isIPv6(this.config.host) ? 'udp6' : 'udp4');
      try {
        udp.bind(port, this.config.host);
        await once(udp, 'listening');
      } catch (error) {
        tcp.close();
        if (asked !== 0 || tries === PORT_TRIES) throw error;
        continue;
      }
      udp
        .on('message', (query, peer) => void this.answerDatagram(udp, query, peer))
        .on('error', (error) => this.logger.warn(`A datagram failed: ${error.message}`));
      tcp.on('error', (error) => this.logger.warn(`The listener failed: ${error.message}`));
      this.udp = udp;
      this.tcp = tcp;
      return port;
    }
  }

  private async answerDatagram(udp: UdpSocket, query: Buffer, { address, port }: RemoteInfo): Promise<void> {
    const isShort = !this.admits(this.whole, address, WHOLE);
    if ((isShort && !this.admits(this.short, address, SHORT)) || query.length > QUERY_BYTES_MAX) return;
    const reply = replyTo(query, await this.records(), { isUdp: true, isShort });
    // Ignores send errors, because they occur only for clients that cannot be reached.
    if (reply !== null) udp.send(reply, port, address, () => undefined);
  }

  private serve(socket: Socket): void {
    // The server's `maxConnections` cannot be used here. If processes share a port, a process at this limit would pass
    // the connection to another process, which may also be at its limit.
    if (this.connections.size >= CONNECTIONS_MAX) return void socket.destroy();
    this.connections.add(socket);
    let held = Buffer.alloc(0);
    let turn = Promise.resolve();
    const end = (): void => void socket.destroy();
    socket
      .setTimeout(IDLE_MS, end)
      .on('error', end)
      .on('close', () => this.connections.delete(socket))
      .on('data', (bytes: Buffer) => {
        held = Buffer.concat([held, bytes]);
        while (held.length >= 2) {
          const length = held.readUInt16BE(0);
          if (length > QUERY_BYTES_MAX) return end();
          if (held.length < 2 + length) return;
          const query = held.subarray(2, 2 + length);
          held = held.subarray(2 + length);
          if (!this.admits(this.whole, socket.remoteAddress ?? '', WHOLE)) return end();
          turn = turn.then(() => this.answerOver(socket, query)).catch(end);
        }
      });
  }

  private async answerOver(socket: Socket, query: Buffer): Promise<void> {
    const reply = replyTo(query, await this.records(), { isUdp: false, isShort: false });
    if (reply === null) return void socket.destroy();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    socket.write(Buffer.concat([length, reply]));
  }

  private admits(limiter: MemoryRateLimiter, address: string, quota: typeof WHOLE): boolean {
    return limiter.count('dns', [{ id: networkOf(address), quota }]).allowed;
  }

  /** Returns the zone's records. While storage is unavailable, returns the last known records, or null. */
  private async records(): Promise<readonly ZoneRecord[] | null> {
    try {
      const dkim = await this.keys.published();
      const keys = dkim.map(({ publicKey }) => publicKey).join(' ');
      if (this.zone?.keys !== keys) {
        const { platformDomain: domain, platformAddresses: addresses, platformSpf: spf } = this.config;
        this.zone = {
          records: platformZone({ domain, addresses, spf, dkim }, Math.floor(this.clock.nowMs() / 1_000)),
          keys,
        };
      }
    } catch (error) {
      this.logger.debug(`The keys can't be read: ${(error as Error).message}`);
    }
    return this.zone?.records ?? null;
  }
}

/**
 * Returns the /24 network of an IPv4 address or the /56 of an IPv6 address. One client may own such a whole network.
 */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain.split('.').slice(0, 3).join('.');
  const [front = '', back] = plain.split('::');
  const groups = front.split(':').filter((group) => group !== '');
  const zeros = back === undefined ? 0 : 8 - groups.length - back.split(':').length;
  const whole = [...groups, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...(back ?? '').split(':')];
  return whole
    .slice(0, 4)
    .map((group, i) => (i === 3 ? group.padStart(4, '0').slice(0, 2) : group))
    .join(':');
}
