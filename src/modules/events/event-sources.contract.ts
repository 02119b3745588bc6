import type { Id } from '#kernel/ids.js';

/** The target or endpoint whose events a filter selects. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
  /** Application of the endpoint: null for an inbound endpoint, absent if unknown. */
  applicationId?: Id | null;
}

/**
 * Resolves a name in a filter. Returns null if the name does not belong to the module that registered this function.
 */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** Finds an application by `app_` id or caller-defined id. */
export type FindApplication = (environmentId: number, name: string) => Promise<Id | null>;

/** Finds an application by `app_` id or caller-defined id. Throws 404 if there is none. */
export type RequireApplication = (environmentId: number, name: string) => Promise<Id>;
