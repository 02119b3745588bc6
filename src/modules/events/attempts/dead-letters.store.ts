import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
/** Reads the index deliveries_target_id_idx of each partition in descending order, once per target. */
const LATEST: Statement = {
  name: 'dead_letters_latest',
  text: `
    select t.id as "targetId", d.event_id as "eventId"
    from unnest($2::uuid[]) as t(id) cross join lateral (
      select event_id from deliveries
      where environment_id = $1 and target_id = t.id and status = 'dlq' and not superseded
      order by event_id desc limit $3
    ) d`,
};

@Injectable()
export class DeadLettersStore {
  constructor(private readonly database: Database) {}

  /** Returns events that are currently dead letters, newest first, at most `limit` per target. */
  async latest(environmentId: number, targetIds: readonly Id[], limit: number): Promise<Map<Id, Id[]>> {
    const rows = await this.database.readPrepared<{ targetId: Id; eventId: Id }>(LATEST, [
      environmentId,
      targetIds,
      limit,
    ]);
    const latest = new Map<Id, Id[]>();
    for (const { targetId, eventId } of rows) latest.set(targetId, [...(latest.get(targetId) ?? []), eventId]);
    for (const ids of latest.values()) ids.sort().reverse();
    return latest;
  }
}
