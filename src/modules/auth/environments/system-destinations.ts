import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type KnowsDestination } from '#modules/auth/contract.js';

/**
 * Checks system destinations with the destinations module, which registers itself here. Without that module, there are
 * none.
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
