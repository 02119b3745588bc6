export abstract class EventTypes {
  /**
   * Throws 422 with all schema errors, with paths below `payload`, if the type is enforced and the payload does not
   * match. Returns a promise only if a schema must be loaded first. In an environment without enforced types, the check
   * costs one lookup.
   */
  abstract check(environmentId: number, eventType: string, payload: unknown): void | Promise<void>;

  /** Throws 404 if the catalogue does not have the type. */
  abstract require(environmentId: number, eventType: string): Promise<void>;
}
