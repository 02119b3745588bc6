import type { Id } from '#kernel/ids.js';

/** Events that went directly to the target, or the events of the endpoint. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
  /** The application that the endpoint belongs to; null for an inbound endpoint; absent if unknown. */
  applicationId?: Id | null;
}

/** Null if the name is of another kind. */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** By `app_` id or caller-defined id. */
export type FindApplication = (environmentId: number, name: string) => Promise<Id | null>;

/** By `app_` id or caller-defined id. Throws 404. */
export type RequireApplication = (environmentId: number, name: string) => Promise<Id>;

/** The contexts that store endpoints and applications register here. */
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
