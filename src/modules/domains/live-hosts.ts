import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Notifications } from '#kernel/database/notifications.js';
import { type CustomHost, CustomHosts } from './contract.js';
import { CustomHostsStore } from './custom-hosts.store.js';

const RETRY_MS = 1_000;

/**
 * Caches all hosts that accept requests (about 200 bytes each), so that routing needs no query. Reloads them when a
 * change is announced, and every second while it is unknown whether announcements arrive.
 */
@Injectable()
export class LiveHosts extends CustomHosts implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(LiveHosts.name);
  private hosts: ReadonlyMap<string, CustomHost> = new Map();
  private reading: Promise<void> | null = null;
  private isStale = true;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly store: CustomHostsStore,
    private readonly notifications: Notifications,
  ) {
    super();
    notifications.on('custom_host', () => this.refresh());
  }

  override get isEmpty(): boolean {
    return this.hosts.size === 0;
  }

  override serving(host: string): CustomHost | null {
    return this.hosts.get(host) ?? null;
  }

  override ofEnvironment(environmentId: number): Promise<CustomHost[]> {
    return this.store.ofEnvironment(environmentId);
  }

  /** Loads the hosts before the server listens, because the first request must find its endpoint. */
  async onApplicationBootstrap(): Promise<void> {
    this.timer = setInterval(() => {
      if (this.isStale || this.notifications.isDeaf()) this.refresh();
    }, RETRY_MS);
    this.refresh();
    await this.reading;
  }

  onApplicationShutdown(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** A change that arrives during a load causes another load. */
  private refresh(): void {
    this.isStale = true;
    this.reading ??= this.readAll().finally(() => (this.reading = null));
  }

  private async readAll(): Promise<void> {
    try {
      while (this.isStale) {
        this.isStale = false;
        this.hosts = new Map((await this.store.serving()).map((host) => [host.host, host]));
      }
    } catch (error) {
      this.isStale = true;
      this.logger.warn(
        `The customers' own hosts can't be read, the next try is in ${RETRY_MS} ms: ${(error as Error).message}`,
      );
    }
  }
}
