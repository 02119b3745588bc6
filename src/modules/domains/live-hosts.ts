import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Notifications } from '#kernel/database/notifications.js';
import { AnnouncedCopy } from './announced-copy.js';
import { type CustomHost, CustomHosts } from './contract.js';
import { CustomHostsStore } from './custom-hosts.store.js';

/** Caches all hosts that accept requests (about 200 bytes each), so that routing needs no query. */
@Injectable()
export class LiveHosts extends CustomHosts implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly hosts: AnnouncedCopy<ReadonlyMap<string, CustomHost>>;

  constructor(
    private readonly store: CustomHostsStore,
    notifications: Notifications,
  ) {
    super();
    this.hosts = new AnnouncedCopy<ReadonlyMap<string, CustomHost>>(notifications, {
      topic: 'custom_host',
      subject: "The customers' own hosts",
      initial: new Map(),
      load: async () => new Map((await store.serving()).map((host) => [host.host, host])),
    });
  }

  override get isEmpty(): boolean {
    return this.hosts.value.size === 0;
  }

  override serving(host: string): CustomHost | null {
    return this.hosts.value.get(host) ?? null;
  }

  override ofEnvironment(environmentId: number): Promise<CustomHost[]> {
    return this.store.ofEnvironment(environmentId);
  }

  /** Loads the hosts before the server listens, because even the first request may be for a custom host. */
  onApplicationBootstrap(): Promise<void> {
    return this.hosts.start();
  }

  onApplicationShutdown(): void {
    this.hosts.stop();
  }
}
