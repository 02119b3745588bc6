import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type KnowsDestination, SystemDestinations } from '#modules/auth/contract.js';

/** Delegates to the module that has destinations. Without that module there are no system destinations. */
@Injectable()
export class AttachedSystemDestinations extends SystemDestinations {
  private knows: KnowsDestination = async () => false;

  override attach(knows: KnowsDestination): void {
    this.knows = knows;
  }

  /** Returns the id if the environment may use it, otherwise `null`. */
  async known(environmentId: number, id: Id | null): Promise<Id | null> {
    return id !== null && (await this.knows(environmentId, id)) ? id : null;
  }
}
