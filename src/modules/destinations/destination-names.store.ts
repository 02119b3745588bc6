import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { type DestinationName } from '#modules/destinations/contract.js';

const FIND: Statement = {
  name: 'destination_names.find',
  // Uses the index `destinations_pkey`.
  text: `
    select id, name, owner_id as "ownerId" from destinations where environment_id = $1::int and id = any($2::uuid[])`,
};

/** Reads names without decrypting secrets. */
@Injectable()
export class DestinationNamesStore {
  constructor(private readonly database: Database) {}

  /** Returns the existing destinations among `ids`, including those with an owner. */
  find(environmentId: number, ids: readonly Id[]): Promise<DestinationName[]> {
    return this.database.query(FIND, [environmentId, ids]);
  }
}
