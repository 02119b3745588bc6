import type { Logger } from 'pino';
import type { Config } from '#kernel/config/config.js';
import type { EmbeddedPostgres } from './embedded.js';

/** The service, once it is up. */
export interface Service {
  /** It is not ready any more, and every answer ends its connection; resolves when it has served on for so long. */
  retire(graceMs: number): Promise<void>;
  /** Nothing new is begun, what is under way ends and is recorded, and the connections to the database are closed. */
  drain(): Promise<void>;
  /** Ends at once what would outlive this process. */
  abandon?(): void;
}

/** A terminal sends Ctrl-C to npm and to us, and npm passes it on: what comes so soon is the same wish. */
const ONE_WISH_MS = 1_000;

/**
 * Ends the process on SIGTERM and SIGINT.
 *
 * Readiness goes first, and the process serves on while balancers take notice; then no request and no attempt is cut;
 * then the storage goes. A second signal leaves at once: what is open falls to other workers, as after a kill.
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
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.heard(signal));
  }

  /** Whether a signal has come: what fails from then on is no news. */
  get hasBegun(): boolean {
    return this.begunAtMs !== null;
  }

  /** What is to be stopped last. */
  owns(postgres: EmbeddedPostgres | null): void {
    this.postgres = postgres;
  }

  /** From now on a signal drains; before, it gives the start up. */
  isUp(service: Service): void {
    this.service = service;
  }

  /** As on a signal, but without a grace: nobody is sent here any more. */
  end(why: string): void {
    if (this.begunAtMs !== null) return;
    this.begunAtMs = performance.now();
    this.logger.error(why);
    void this.stop(0);
  }

  private heard(signal: NodeJS.Signals): void {
    const nowMs = performance.now();
    if (this.begunAtMs === null) {
      this.begunAtMs = nowMs;
      this.logger.info(`Stopping on ${signal}.`);
      void this.stop(this.config.shutdownGraceMs);
    } else if (nowMs - this.begunAtMs >= ONE_WISH_MS) {
      this.logger.warn(`Leaving at once on a second ${signal}; what is open falls back to other workers.`);
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
            `Not stopped within ${config.shutdownTimeoutMs} ms; what is open falls back to other workers.`,
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

  /** The embedded server would outlive us: it is stopped all the same, which takes a moment. Who cannot wait for it signals once more. */
  private async leave(): Promise<void> {
    if (this.isLeaving) process.exit(1);
    this.isLeaving = true;
    this.service?.abandon?.();
    await this.postgres?.stop().catch(() => undefined);
    process.exit(1);
  }
}
