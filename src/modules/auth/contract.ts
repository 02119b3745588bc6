import type { Id } from '#kernel/ids.js';

/** What other contexts need to know of an environment. */
export interface Environment {
  environmentId: number;
  organizationId: Id;
  /** The organization's part of receive URLs. */
  organizationSlug: string;
  mode: 'live' | 'test';
  /** How long events, attempts and dead letters are kept. */
  retentionDays: number;
  /** Where the service's own events go, as it was named; it may be deleted since. */
  systemDestinationId: Id | null;
}

/** An environment whose event types are public. */
export interface CatalogOwner {
  environmentId: number;
  organizationName: string;
}

/** Environments by number, from a cache that is never older than five seconds. */
export abstract class Environments {
  /** Throws 404 when there is none. */
  abstract get(environmentId: number): Promise<Environment>;

  /** What `get` would answer, where that is known already; undefined where it has to be waited for. */
  abstract known(environmentId: number): Environment | undefined;

  /** The keys that sign deliveries to ad-hoc URLs, newest first; two while a rotation's grace lasts. */
  abstract signingKeys(environmentId: number): Promise<readonly Buffer[]>;

  /** Whose event types these are, when anybody may read them; null when nobody may, and when there is no such slug. */
  abstract catalogOwner(organizationSlug: string, mode: Environment['mode']): Promise<CatalogOwner | null>;

  /** For how many days environments keep what they accept, as it is now: each number once, and at least one. */
  abstract retentions(): Promise<number[]>;
}

/** How long an environment keeps what it accepts. */
export abstract class Retention {
  /**
   * The day on which the retention of what was accepted under this id ends, in days since the epoch; a promise only where the environment
   * has to be loaded. Rejects with 404 when there is no such environment.
   */
  abstract expiresOnDay(environmentId: number, id: Id): number | Promise<number>;
}

/** What the first start of an installation makes, so that there is a key to begin with. */
export abstract class FirstStart {
  /**
   * Makes the first organization with its two environments unless there is one, and the key of BOOTSTRAP_API_KEY.
   * Returns the admin keys that it generated, to be shown once: none when BOOTSTRAP_API_KEY is set, null on any later
   * start. Safe to run in several processes at once.
   */
  abstract run(): Promise<{ live: string; test: string } | null>;
}

/** Whether an environment may name this destination. */
export type KnowsDestination = (environmentId: number, destinationId: Id) => Promise<boolean>;

/** Where an environment's own events go is a setting of its organization; who sends them there knows destinations. */
export abstract class SystemDestinations {
  abstract attach(knows: KnowsDestination): void;
}

/** The longest time for which a delivery of an environment may be tried, in seconds. */
export type LongestRetrySeconds = (environmentId: number) => Promise<number>;

/** Events must be kept for as long as their deliveries are tried; who has the retry schedules knows how long that is. */
export abstract class RetrySchedules {
  abstract attach(longest: LongestRetrySeconds): void;
}
