import type { Id } from '#kernel/ids.js';

export interface SecretUser {
  kind: 'destination' | 'endpoint';
  id: Id;
}

/** Values of named secrets. They never leave the service in a response, a log or a metric. */
export abstract class Secrets {
  /** Returns values that are at most five seconds old on every node. The result omits names that do not exist. */
  abstract resolve(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /** Returns the current values inside the caller's transaction, for checks that must still hold when it commits. */
  abstract current(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Records which resources use which secrets. A secret in use cannot be deleted. */
export abstract class SecretUses {
  /**
   * Records that `user` uses exactly these secrets from now on. An empty list removes all uses: required when a user is
   * deleted. Runs in the caller's transaction, which must be open. Until it ends, the secrets can be neither deleted
   * nor changed. Returns the names that do not exist. If there are any, nothing is recorded, and the caller throws 422.
   */
  abstract replace(environmentId: number, user: SecretUser, names: readonly string[]): Promise<readonly string[]>;
}
