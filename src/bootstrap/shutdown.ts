import type { Logger } from 'pino';
import type { Config } from '#kernel/config/config.js';
import type { EmbeddedPostgres } from './embedded.js';

export interface Service {
  /** Fails readiness checks and closes each connection after its response. Serves for `graceMs`, then resolves. */
  retire(graceMs: number): Promise<void>;
  /** Accepts no new work, finishes the work in progress, records its results, and closes the database connections. */
  drain(): Promise<void>;
  /** Ends child processes that would outlive this process. */
  abandon?(): void;
}

/** Time during which a second signal is ignored. On Ctrl-C, both the terminal and npm send a signal. */
const ONE_WISH_MS = 1_000;

/**
 * Ends the process on SIGTERM and SIGINT.
 *
 * 1. Readiness checks fail. The process serves until load balancers have noticed.
 * 2. Requests and attempts in progress finish.
 * 3. Database connections are closed, and the embedded database stops.
 *
 * A second signal exits immediately. Other workers then take over open deliveries, as after a crash.
 */
export class Shutdown {
  private service: Service | null = null;
  private postgres: EmbeddedPostgres | null = null;
  private begunAtMs: number | null = null;
  private isLeaving = false;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.onSignal(signal));
  }

  /** True once a signal was received. Errors after the signal are expected. */
  get hasBegun(): boolean {
    return this.begunAtMs !== null;
  }

  owns(postgres: EmbeddedPostgres | null): void {
    this.postgres = postgres;
  }

  /** Registers the running service. From then on, a signal drains it. An earlier signal aborts the start. */
  isUp(service: Service): void {
    this.service = service;
  }

  /**
   * Shuts down as on a signal, but without a grace period, because no load balancer sends requests to this process any
   * more.
   */
  end(why: string): void {
    if (this.begunAtMs !== null) return;
    this.begunAtMs = performance.now();
    this.logger.error(why);
    void this.stop(0);
  }

  private onSignal(signal: NodeJS.Signals): void {
    const nowMs = performance.now();
    if (this.begunAtMs === null) {
      this.begunAtMs = nowMs;
      this.logger.info(`Stopping on ${signal}.`);
      void this.stop(this.config.shutdownGraceMs);
    } else if (nowMs - this.begunAtMs >= ONE_WISH_MS) {
      this.logger.warn(`Leaving at once on a second ${signal}; other workers take over open deliveries.`);
      void this.leave();
    }
  }

  private async stop(graceMs: number): Promise<void> {
    const { service, config } = this;
    try {
      if (service !== null) {
        await service.retire(graceMs);
        const late = setTimeout(() => {
          this.logger.error(
            `Not stopped within ${config.shutdownTimeoutMs} ms; other workers take over open deliveries.`,
          );
          void this.leave();
        }, config.shutdownTimeoutMs);
        late.unref();
        await service.drain();
      }
      await this.postgres?.stop();
      process.exit(0);
    } catch (error) {
      this.logger.error({ err: error }, 'Stopping failed.');
      await this.leave();
    }
  }

  /**
   * Stops the embedded PostgreSQL server, which would otherwise outlive this process, and then exits. A further signal
   * exits without waiting.
   */
  private async leave(): Promise<void> {
    if (this.isLeaving) process.exit(1);
    this.isLeaving = true;
    this.service?.abandon?.();
    await this.postgres?.stop().catch(() => undefined);
    process.exit(1);
  }
}
