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
}

/** Environments by number, from a cache that is never older than five seconds. */
export abstract class Environments {
  /** Throws 404 when there is none. */
  abstract get(environmentId: number): Promise<Environment>;

  /** The keys that sign deliveries to ad-hoc URLs, newest first; two while a rotation's grace lasts. */
  abstract signingKeys(environmentId: number): Promise<readonly Buffer[]>;

  /** The longest retention of any environment, in days: how far ahead partitions must exist. */
  abstract longestRetentionDays(): Promise<number>;
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
