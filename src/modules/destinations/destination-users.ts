import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type DestinationUser, type FindDestinationUsers } from './destination-users.contract.js';

/** Finds the resources that use a destination and prevent its deletion. Modules register their lookups here. */
@Injectable()
export class DestinationUsers {
  private readonly finders: FindDestinationUsers[] = [];

  async list(environmentId: number, destinationId: Id, max: number): Promise<DestinationUser[]> {
    const found: DestinationUser[] = [];
    // The lookups run one after another, because they share the connection of the caller's transaction.
    for (const find of this.finders) found.push(...(await find(environmentId, destinationId, max)));
    return found.slice(0, max);
  }

  attach(find: FindDestinationUsers): void {
    this.finders.push(find);
  }
}
