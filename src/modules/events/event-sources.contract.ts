import type { Id } from '#kernel/ids.js';

/** A target or endpoint to filter events by: events that went directly to the target, or the events of the endpoint. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
  /** The application that the endpoint belongs to; null for an inbound endpoint; absent if unknown. */
  applicationId?: Id | null;
}

/** Resolves a name that events are filtered by, or returns null if the name is of another kind. */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** Returns the application with this `app_` id or caller-defined id, or null. */
export type FindApplication = (environmentId: number, name: string) => Promise<Id | null>;

/** Returns the existing application with this `app_` id or caller-defined id. Throws 404 if there is none. */
export type RequireApplication = (environmentId: number, name: string) => Promise<Id>;

/** Resolves endpoints by id or path, and applications. The contexts that store them register here. */
export abstract class EventSources {
  /** Resolves an `ep_` id or a path. The id of a deleted endpoint is also resolved. */
  abstract aim(environmentId: number, name: string): Promise<EventAim | null>;

  /** Resolves an application's id. The id of a deleted application is also resolved. */
  abstract application(environmentId: number, name: string): Promise<Id | null>;

  abstract attach(find: FindAim): void;

  /** Returns the id of an existing application. Throws 404 if there is none. */
  abstract existingApplication(environmentId: number, name: string): Promise<Id>;

  abstract attachApplications(find: FindApplication, require: RequireApplication): void;
}
