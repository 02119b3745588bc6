/** What an environment says of the events that it sends. */
export abstract class EventTypes {
  /**
   * Throws 422 with every fault, below `payload`, when the type is enforced and the payload breaks its schema. A promise
   * only where something has to be loaded first: where nothing is enforced, which is the usual case, it costs a look-up.
   */
  abstract check(environmentId: number, eventType: string, payload: unknown): void | Promise<void>;

  /** Throws 404 when the catalogue has no such type. */
  abstract require(environmentId: number, eventType: string): Promise<void>;
}
