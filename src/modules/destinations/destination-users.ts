import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type DestinationUser, DestinationUsers, type FindDestinationUsers } from './destination-users.contract.js';

@Injectable()
export class AttachedDestinationUsers extends DestinationUsers {
  private readonly finders: FindDestinationUsers[] = [];

  override async list(environmentId: number, destinationId: Id, max: number): Promise<DestinationUser[]> {
    const found: DestinationUser[] = [];
    // Sequential, because the calls share the caller's transaction, which is one connection.
    for (const find of this.finders) found.push(...(await find(environmentId, destinationId, max)));
    return found.slice(0, max);
  }

  override attach(find: FindDestinationUsers): void {
    this.finders.push(find);
  }
}
