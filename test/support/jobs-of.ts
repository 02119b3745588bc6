import { type DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import type { Clock } from '#kernel/clock.js';
import { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Config } from '#kernel/config/config.js';
import type { RetentionGate } from '#kernel/database/retention-gate.js';

/** Environment of the jobs of a test. Default: a worker, an open retention gate, and a poller that does nothing. */
interface Surroundings {
  isWorker?: boolean;
  gate?: Pick<RetentionGate, 'isOpen'>;
  dueWork?: Pick<DueWorkPoller, 'register' | 'restMs'>;
}

/** Returns the background jobs of these providers, not started. `providers` is called at the start. */
export function jobsOf(
  providers: () => unknown[],
  {
    isWorker = true,
    gate = { isOpen: async () => true },
    dueWork = { register: () => undefined, restMs: (ownMs) => ownMs },
  }: Surroundings = {},
): BackgroundJobs {
  return new BackgroundJobs(
    { getProviders: () => providers().map((instance) => ({ instance })) } as unknown as DiscoveryService,
    new MetadataScanner(),
    new Reflector(),
    { isWorker } as Config,
    gate as RetentionGate,
    dueWork as DueWorkPoller,
    { nowMs: () => 0 } as Clock,
  );
}
