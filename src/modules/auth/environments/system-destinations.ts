import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type KnowsDestination, SystemDestinations } from '#modules/auth/contract.js';

/** Asks the context that has destinations in view; without one there are none. */
@Injectable()
export class AttachedSystemDestinations extends SystemDestinations {
  private knows: KnowsDestination = async () => false;

  override attach(knows: KnowsDestination): void {
    this.knows = knows;
  }

  /** The id if an environment may name it, or null. */
  async known(environmentId: number, id: Id | null): Promise<Id | null> {
    return id !== null && (await this.knows(environmentId, id)) ? id : null;
  }
}
