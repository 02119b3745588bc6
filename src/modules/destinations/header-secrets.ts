import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { Secrets, SecretUses } from '#modules/secrets/contract.js';
import { filledIn, secretNames, templateFaults } from './header-templates.js';

type Headers = Readonly<Record<string, string>>;

/** Secrets in the static headers of destinations. */
@Injectable()
export class HeaderSecrets {
  constructor(
    private readonly secrets: Secrets,
    private readonly uses: SecretUses,
    private readonly database: Database,
  ) {}

  /** What is wrong with the secrets in the headers now, for a refusal before anything costly is done. */
  async faults(environmentId: number, headers: Headers): Promise<Fault[]> {
    const names = secretNames(headers);
    return names.length === 0 ? [] : templateFaults(headers, await this.secrets.current(environmentId, names));
  }

  /**
   * Runs `work` in a transaction in which the destination uses the secrets of its headers: from here to the commit
   * none of them is deleted or changed. Throws 422 with every fault.
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
      if (unknown.length > 0) throw conflict('A secret of the headers was created while this call ran. Send it again.');
      return work();
    });
  }

  /** Lets go of every secret of a destination that is removed, in the caller's transaction. */
  async release(environmentId: number, destinationId: Id): Promise<void> {
    await this.uses.replace(environmentId, { kind: 'destination', id: destinationId }, []);
  }

  /**
   * The headers as they are sent. Throws 409 rather than return a template: only a secret that has grown since the
   * destination was saved can bring that about.
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
