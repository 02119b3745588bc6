import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type DestinationUser, type FindDestinationUsers } from './destination-users.contract.js';

/** Users of a destination, because one in use cannot be deleted. Modules register their lookups here. */
@Injectable()
export class DestinationUsers {
  private readonly finders: FindDestinationUsers[] = [];

  async list(environmentId: number, destinationId: Id, max: number): Promise<DestinationUser[]> {
    const found: DestinationUser[] = [];
    // Sequential, because the calls share the caller's transaction, which is one connection.
    for (const find of this.finders) found.push(...(await find(environmentId, destinationId, max)));
    return found.slice(0, max);
  }

  attach(find: FindDestinationUsers): void {
    this.finders.push(find);
  }
}
