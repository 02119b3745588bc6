import type { Id } from '#kernel/ids.js';

/** The data of an environment that other modules need. */
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

/** An environment with a public event catalog. */
export interface CatalogOwner {
  environmentId: number;
  organizationName: string;
}

/** Environments by number, from a cache that is at most five seconds old. */
export abstract class Environments {
  /** Returns an environment. Throws 404 if there is none. */
  abstract get(environmentId: number): Promise<Environment>;

  /** Returns the same as `get` if it is in the cache, otherwise `undefined`. */
  abstract known(environmentId: number): Environment | undefined;

  /**
   * Returns the keys that sign deliveries to ad-hoc URLs, newest first. There are two during the grace period of a
   * rotation.
   */
  abstract signingKeys(environmentId: number): Promise<readonly Buffer[]>;

  /**
   * Returns the environment whose public event catalog has this slug. Returns `null` if the catalog is not public or
   * the slug does not exist.
   */
  abstract catalogOwner(organizationSlug: string, mode: Environment['mode']): Promise<CatalogOwner | null>;

  /** Returns the distinct retention periods of all environments, in days. The list is never empty. */
  abstract retentions(): Promise<number[]>;
}

/** Retention periods of environments. */
export abstract class Retention {
  /**
   * Returns the day on which the retention of an item with this id ends, in days since the epoch. Returns a promise
   * only if the environment has to be loaded. Rejects with 404 if there is no such environment.
   */
  abstract expiresOnDay(environmentId: number, id: Id): number | Promise<number>;
}

/** Creates the first organization and its first keys when an installation starts for the first time. */
export abstract class FirstStart {
  /**
   * Creates the first organization with its two environments unless there is one, and the key given in
   * BOOTSTRAP_API_KEY. Returns the generated admin keys, which must be shown once. Returns no keys if BOOTSTRAP_API_KEY
   * is set, and `null` on any later start. Safe to run in several processes at the same time.
   */
  abstract run(): Promise<{ live: string; test: string } | null>;
}

/** Returns true if an environment may use this destination. */
export type KnowsDestination = (environmentId: number, destinationId: Id) => Promise<boolean>;

/**
 * Validates the destination for an environment's system events. The setting belongs to the organization, but only the
 * module that sends the events knows destinations, so that module registers a check here.
 */
export abstract class SystemDestinations {
  abstract attach(knows: KnowsDestination): void;
}

/** Returns the longest time for which a delivery of an environment may be retried, in seconds. */
export type LongestRetrySeconds = (environmentId: number) => Promise<number>;

/**
 * Returns the length of retry schedules. Events must be kept for as long as their deliveries are retried, and the
 * module that has the retry schedules registers the lookup here.
 */
export abstract class RetrySchedules {
  abstract attach(longest: LongestRetrySeconds): void;
}
