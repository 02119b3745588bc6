import type { Id } from '#kernel/ids.js';

/** Whose events: those that went to a target by itself, or those of an endpoint. */
export interface EventAim {
  targetId?: Id;
  endpointId?: Id;
  /** The application that the endpoint belongs to; null for one that receives, left out where it is not known. */
  applicationId?: Id | null;
}

/** Knows what some of the names stand for that events are filtered by; null for any other. */
export type FindAim = (environmentId: number, name: string) => Promise<EventAim | null>;

/** The application that an `app_` id or a caller's own id names, or null. */
export type FindApplication = (environmentId: number, name: string) => Promise<Id | null>;

/** The application that exists under an id or a caller's own id. Throws 404. */
export type RequireApplication = (environmentId: number, name: string) => Promise<Id>;

/** Knows endpoints by their ids and paths, and applications; connected by the contexts that have them. */
export abstract class EventSources {
  /** What an `ep_` id or a path stands for; the id of an endpoint that is gone is still one. */
  abstract aim(environmentId: number, name: string): Promise<EventAim | null>;

  /** The id of an application that is gone is still one. */
  abstract application(environmentId: number, name: string): Promise<Id | null>;

  abstract attach(find: FindAim): void;

  /** The id of an application that is there. Throws 404. */
  abstract existingApplication(environmentId: number, name: string): Promise<Id>;

  abstract attachApplications(find: FindApplication, require: RequireApplication): void;
}
