import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type KnowsDestination } from '#modules/auth/contract.js';

/**
 * Checks the ids of system destinations. The destinations module attaches the function that finds them. Without that
 * module, every id is unknown.
 */
@Injectable()
export class AttachedSystemDestinations {
  private knows: KnowsDestination = async () => false;

  attach(knows: KnowsDestination): void {
    this.knows = knows;
  }

  /** Returns the destination's id if the environment may use that destination, otherwise `null`. */
  async known(environmentId: number, id: Id | null): Promise<Id | null> {
    return id !== null && (await this.knows(environmentId, id)) ? id : null;
  }
}
