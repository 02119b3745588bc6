import type { Id } from '#kernel/ids.js';

export interface Environment {
  environmentId: number;
  organizationId: Id;
  /** Path segment of the organization in receive URLs. */
  organizationSlug: string;
  mode: 'live' | 'test';
  /** Number of days for which events, attempts and dead letters are kept. */
  retentionDays: number;
  /** Destination configured for the service's own events. It may have been deleted since. */
  systemDestinationId: Id | null;
}

export interface CatalogOwner {
  environmentId: number;
  organizationName: string;
}

/** Environments by number, from a cache whose entries are at most five seconds old. */
export abstract class Environments {
  /** Throws 404 if there is no such environment. */
  abstract get(environmentId: number): Promise<Environment>;

  /** Returns the cached environment, or `undefined` if it is not in the cache. */
  abstract known(environmentId: number): Environment | undefined;

  /** Keys that sign deliveries to ad-hoc URLs, newest first. There are two during the grace period of a rotation. */
  abstract signingKeys(environmentId: number): Promise<readonly Buffer[]>;

  /** Returns `null` if the event catalog is not public or the slug does not exist. */
  abstract catalogOwner(organizationSlug: string, mode: Environment['mode']): Promise<CatalogOwner | null>;

  /** Distinct retention periods of all environments, in days. Never empty. */
  abstract retentions(): Promise<number[]>;
}

export abstract class Retention {
  /**
   * Returns the day on which an item's retention ends, in days since the epoch. Returns a promise only if the
   * environment has to be loaded. Rejects with 404 if there is no such environment.
   */
  abstract expiresOnDay(environmentId: number, id: Id): number | Promise<number>;
}

export abstract class FirstStart {
  /**
   * Creates the first organization with its two environments unless there is one, and the key in BOOTSTRAP_API_KEY.
   * Returns the generated admin keys, which must be shown once, or `null` if BOOTSTRAP_API_KEY is set and on any later
   * start. Safe to run in several processes at the same time.
   */
  abstract run(): Promise<{ live: string; test: string } | null>;
}

export type KnowsDestination = (environmentId: number, destinationId: Id) => Promise<boolean>;

/**
 * Checks the destination for system events. The setting belongs to the organization, but only the module that sends the
 * events knows destinations, so it registers the check here.
 */
export abstract class SystemDestinations {
  abstract attach(knows: KnowsDestination): void;
}

/** Returns the longest time in seconds for which a delivery of an environment may be retried. */
export type LongestRetrySeconds = (environmentId: number) => Promise<number>;

/** Gives the longest retry time, which retention must cover. The module with the schedules registers here. */
export abstract class RetrySchedules {
  abstract attach(longest: LongestRetrySeconds): void;
}
