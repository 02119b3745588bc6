import type { Type } from '@nestjs/common';
import { type DiscoveryService, MetadataScanner, type ModulesContainer, Reflector } from '@nestjs/core';
import type { Clock } from '#kernel/clock.js';
import { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Config } from '#kernel/config/config.js';
import type { RetentionGate } from '#kernel/database/retention-gate.js';

/**
 * Environment of the jobs in a test. By default, the process is a worker, data may be removed by age, and the poller
 * does nothing.
 */
interface Surroundings {
  isWorker?: boolean;
  gate?: Pick<RetentionGate, 'isOpen'>;
  dueWork?: Pick<DueWorkPoller, 'register' | 'restMs'>;
  controllers?: Type[];
}

/**
 * Returns the background jobs of some Nest providers, without starting the jobs. `providers` returns these providers,
 * and is called only when the jobs are started.
 */
export function jobsOf(
  providers: () => unknown[],
  {
    isWorker = true,
    gate = { isOpen: async () => true },
    dueWork = { register: () => undefined, restMs: (ownMs) => ownMs },
    controllers = [],
  }: Surroundings = {},
): BackgroundJobs {
  const module = {
    controllers: new Map(controllers.map((metatype) => [metatype, { metatype }])),
    injectables: new Map(),
  };
  return new BackgroundJobs(
    { getProviders: () => providers().map((instance) => ({ instance })) } as unknown as DiscoveryService,
    new Map([['module', module]]) as unknown as ModulesContainer,
    new MetadataScanner(),
    new Reflector(),
    { isWorker } as Config,
    gate as RetentionGate,
    dueWork as DueWorkPoller,
    { nowMs: () => 0 } as Clock,
  );
}
