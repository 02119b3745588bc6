import type { Id } from '#kernel/ids.js';

export interface Environment {
  environmentId: number;
  organizationId: Id;
  /** Path segment of the organization in receive URLs. */
  organizationSlug: string;
  mode: 'live' | 'test';
  /** Number of days for which events, attempts and dead letters are kept. */
  retentionDays: number;
  /** Destination that receives the system events of the environment. It may have been deleted in the meantime. */
  systemDestinationId: Id | null;
}

export interface CatalogOwner {
  environmentId: number;
  organizationName: string;
}

export type KnowsDestination = (environmentId: number, destinationId: Id) => Promise<boolean>;
/** Returns the longest time in seconds for which a delivery of an environment may be retried. */
export type LongestRetrySeconds = (environmentId: number) => Promise<number>;
