import { Injectable } from '@nestjs/common';
import { checkUrl, type EgressPolicy, egressPolicy, type UrlVerdict } from '#engine/egress-policy.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { ownListeners } from './own-listeners.js';

/** Minimum time between two queries of the network interfaces. A query costs more than opening a connection. */
const REFRESH_MS = 10_000;

@Injectable()
export class EgressGate {
  private current: EgressPolicy | null = null;
  private freshUntilMs = 0;
  private portsKnown = 0;

  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** Returns the current policy, which blocks Posthorn's own listeners at all current addresses of the machine. */
  policy(): EgressPolicy {
    const nowMs = this.clock.nowMs();
    const ports = this.config.listeningPorts.length;
    if (this.current === null || nowMs >= this.freshUntilMs || ports !== this.portsKnown) {
      this.current = this.read();
      this.portsKnown = ports;
      this.freshUntilMs = nowMs + REFRESH_MS;
    }
    return this.current;
  }

  check(url: string): UrlVerdict {
    return checkUrl(url, this.policy());
  }

  private read(): EgressPolicy {
    const { egressAllowCidrs, egressAllowHttp, host, metricsPort, listeningPorts } = this.config;
    const ports = [this.listeningPort(), metricsPort, ...listeningPorts].filter(
      (port): port is number => port !== null && port !== 0,
    );
    return egressPolicy({
      allowCidrs: egressAllowCidrs,
      allowHttp: egressAllowHttp,
      ownListeners: ownListeners(ports.map((port) => ({ address: host, port }))),
    });
  }

  /** Returns the port that the API listens on. With PORT=0, only the base URL contains the actual port. */
  private listeningPort(): number {
    const { port, configuredBaseUrl, baseUrl } = this.config;
    return port === 0 && configuredBaseUrl === null ? Number(new URL(baseUrl).port) : port;
  }
}
