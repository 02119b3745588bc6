import type { Id } from '#kernel/ids.js';

/** What uses secrets: a header of a destination, or code of an endpoint. */
export interface SecretUser {
  kind: 'destination' | 'endpoint';
  id: Id;
}

/** Values of named secrets. They never leave the service in an answer, a log or a metric. */
export abstract class Secrets {
  /** The values by name, never older than five seconds, on no node. A name that does not exist is missing from them. */
  abstract resolve(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /** The same as they are now, inside the caller's transaction: for checks that must hold when it commits. */
  abstract current(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Who uses which secret: what is in use can't be deleted. */
export abstract class SecretUses {
  /**
   * Records that `user` uses exactly these secrets from now on; none releases all, as a user that is deleted must.
   * Runs in the caller's transaction, which must be open: until it ends, nobody deletes or changes the secrets.
   *
   * Returns the names that do not exist. When there are any, nothing is recorded, and the caller throws 422.
   */
  abstract replace(environmentId: number, user: SecretUser, names: readonly string[]): Promise<readonly string[]>;
}
