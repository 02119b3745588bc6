import { Injectable } from '@nestjs/common';
import { Database } from 'posthorn';

const FIND_LOCKER = { name: 'depot_locker', text: `select $1::text = any ('{north,south}'::text[]) as found` };

/** Checks whether a locker exists. The name `broken` simulates a failed database. */
@Injectable()
export class Lockers {
  constructor(private readonly database: Database) {}

  async has(name: unknown): Promise<boolean> {
    if (name === 'broken') throw new Error('The lockers are not available: password hunter2.');
    const [row] = await this.database.query<{ found: boolean }>(FIND_LOCKER, [String(name)]);
    return row?.found === true;
  }
}
