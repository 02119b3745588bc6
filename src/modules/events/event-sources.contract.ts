import type { Id } from '#kernel/ids.js';

/** Resolved name: the target of directly sent events, or the endpoint of the events. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
  /** Application of the endpoint: null for an inbound endpoint, absent if unknown. */
  applicationId?: Id | null;
}

/** Resolves a name. Returns null if the name does not belong to this module. */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** Finds an application by `app_` id or caller-defined id. */
export type FindApplication = (environmentId: number, name: string) => Promise<Id | null>;

/** Finds an application by `app_` id or caller-defined id. Throws 404 if there is none. */
export type RequireApplication = (environmentId: number, name: string) => Promise<Id>;

/** Resolves names in filters. The modules that store endpoints and applications register here. */
export abstract class EventSources {
  /** Resolves an `ep_` id or a path. The id of a deleted endpoint is also resolved. */
  abstract aim(environmentId: number, name: string): Promise<EventAim | null>;

  /** Resolves an application's id. The id of a deleted application is also resolved. */
  abstract application(environmentId: number, name: string): Promise<Id | null>;

  abstract attach(find: FindAim): void;

  /** Throws 404. */
  abstract existingApplication(environmentId: number, name: string): Promise<Id>;

  abstract attachApplications(find: FindApplication, require: RequireApplication): void;
}
