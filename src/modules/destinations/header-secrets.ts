import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { SealedSecrets } from '#modules/secrets/sealed-secrets.js';
import { SecretUsesStore } from '#modules/secrets/secret-uses.store.js';
import { filledIn, secretNames, templateFaults } from './header-templates.js';

type Headers = Readonly<Record<string, string>>;

@Injectable()
export class HeaderSecrets {
  constructor(
    private readonly secrets: SealedSecrets,
    private readonly uses: SecretUsesStore,
    private readonly database: Database,
  ) {}

  /** Returns the current errors in the headers, so that the caller can reject a request before expensive steps. */
  async faults(environmentId: number, headers: Headers): Promise<Fault[]> {
    const names = secretNames(headers);
    return names.length === 0 ? [] : templateFaults(headers, await this.secrets.current(environmentId, names));
  }

  /**
   * Runs `work` in a transaction that locks the secrets in the headers, and returns its result. Throws 422 with all
   * header errors, and 409 if a secret was created while this call ran.
   */
  using<T>(environmentId: number, destinationId: Id, headers: Headers, work: () => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      const unknown = await this.uses.replace(
        environmentId,
        { kind: 'destination', id: destinationId },
        secretNames(headers),
      );
      const faults = await this.faults(environmentId, headers);
      if (faults.length > 0) throw invalid(faults);
      if (unknown.length > 0) throw conflict('A secret in the headers was created while this call ran. Send it again.');
      return work();
    });
  }

  /** Records that a deleted destination no longer uses any secrets, in the caller's transaction. */
  async release(environmentId: number, destinationId: Id): Promise<void> {
    await this.uses.replace(environmentId, { kind: 'destination', id: destinationId }, []);
  }

  /**
   * Returns the headers with the secrets' values. Throws 409 if a resulting header is invalid (for example, too long).
   */
  async resolve(environmentId: number, headers: Headers): Promise<Headers> {
    const names = secretNames(headers);
    if (names.length === 0) return headers;
    const values = await this.secrets.resolve(environmentId, names);
    const [fault] = templateFaults(headers, values);
    if (fault)
      throw conflict(`The secrets do not fit into the destination's headers any more: ${fault.path}: ${fault.message}`);
    return filledIn(headers, values);
  }
}
