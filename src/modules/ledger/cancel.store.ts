import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { uuidArray } from '#kernel/database/pg-array.js';
import { type Id, idAfter } from '#kernel/ids.js';
import type { CancelReason, WaitingSelection } from './cancellation.contract.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';
import { endedDeliveries } from './ended-deliveries.js';
import { isOpen } from './open-key.js';

const STEP = 1_000;
const FIRST: Id = '00000000-0000-0000-0000-000000000000';

interface Step {
  picked: number;
  last: Id | null;
  held: Id[] | null;
}

/**
 * SQL that cancels deliveries, in the order of due_deliveries_pkey. Ends unclaimed deliveries. Marks claimed
 * deliveries, so that their workers end them. With `wait`, waits for locked rows, but processes only one row, because a
 * statement that waits while it holds another lock could deadlock.
 */
const cancel = (which: string, wait: boolean): string => `
  with picked as (
    select d.environment_id, d.event_id, d.ordinal, d.claimed_by from due_deliveries d
    where d.environment_id = $1 and d.event_id >= $2 and (d.withdrawn is null or d.claimed_by is null) and ${which}
    order by d.event_id, d.ordinal limit ${wait ? 1 : STEP} for update${wait ? '' : ' skip locked'}
  ), gone as (
    delete from due_deliveries d using picked p where ${isOpen('p')} and p.claimed_by is null returning d.*
  ), marked as (
    update due_deliveries d set withdrawn = $3 from picked p where ${isOpen('p')} and p.claimed_by is not null
      returning d.target_id
  ), ${endedDeliveries('$3')}
  select (select count(*)::int from picked) as picked, (select event_id from picked order by event_id desc
    limit 1) as last,
         (select array_agg(distinct target_id) from marked) as held`;

/**
 * SQL condition for deliveries to a target. Reads the event type in a subquery (events_pkey), because the planner might
 * turn a join into a hash of all events.
 */
const OF_TARGET = `
  d.target_id = $4 and d.event_id < $5 and ($6::uuid is null or d.endpoint_id = $6) and ($7::text is null or (
    select e.event_type from events e where e.environment_id = d.environment_id and e.id = d.event_id and e.expires_on = d.expires_on) = $7)`;
const OF_EVENTS = 'd.event_id = any ($4::uuid[]) and ($5::uuid is null or d.target_id = $5)';

/** These rarely used statements scan all open deliveries of an environment by due_deliveries_pkey, and filter them. */
const TARGET: Statement = { name: 'cancel_target', text: cancel(OF_TARGET, false) };
const TARGET_LOCKED: Statement = { name: 'cancel_target_locked', text: cancel(OF_TARGET, true) };
const EVENTS: Statement = { name: 'cancel_events', text: cancel(OF_EVENTS, false) };
const EVENTS_LOCKED: Statement = { name: 'cancel_events_locked', text: cancel(OF_EVENTS, true) };

/** Uses the index due_deliveries_pkey. */
const REASON: Statement = {
  name: 'cancel_reason',
  text: 'select withdrawn from due_deliveries where environment_id = $1 and event_id = $2 and ordinal = $3',
};

/** Finds the newest event with an open delivery to the target. Scans due_deliveries_pkey in descending order. */
const NEWEST: Statement = {
  name: 'cancel_newest',
  text: `
    select event_id as id from due_deliveries d where d.environment_id = $1 and d.target_id = $2
    order by d.event_id desc limit 1`,
};

/**
 * Finds the targets of claimed deliveries that are marked as canceled. Used in case workers missed the notification.
 */
const HELD: Statement = {
  name: 'cancel_held',
  text: `
    select environment_id as "environmentId", target_id as "targetId" from due_deliveries
    where coalesce(withdrawn, '') <> '' and claimed_by is not null and (environment_id, target_id) > ($1::int, $2::uuid)
    group by environment_id, target_id order by environment_id, target_id limit 1000`,
};

@Injectable()
export class CancelStore {
  constructor(private readonly database: Database) {}

  /**
   * Ends the unclaimed deliveries of a target, and marks its claimed ones as canceled. `count` is the number of
   * deliveries that were ended or marked. `held` contains the targets of the marked ones.
   */
  async ofTarget(selection: WaitingSelection, reason: CancelReason): Promise<{ count: number; held: Id[] }> {
    const { environmentId, targetId, beforeId, endpointId, eventType } = selection;
    const [newest] = await this.database.queryPrepared<{ id: Id }>(NEWEST, [environmentId, targetId]);
    if (newest === undefined) return { count: 0, held: [] };
    // New events keep arriving, so the cancellation needs an upper bound. It is the newest event id and not the current
    // time, because the clocks of nodes differ.
    const endId = idAfter(newest.id, 1);
    const bound = beforeId !== null && beforeId < endId ? beforeId : endId;
    const values = (after: Id): unknown[] => [environmentId, after, reason, targetId, bound, endpointId, eventType];
    return this.all(TARGET, TARGET_LOCKED, values);
  }

  /**
   * Cancels deliveries of events to one target, or to all targets. Ends unclaimed deliveries, and marks claimed ones,
   * so that their workers end them. Returns the number of both, and in `held` the targets of the marked deliveries.
   */
  async ofEvents(
    environmentId: number,
    eventIds: readonly Id[],
    reason: CancelReason,
    targetId: Id | null = null,
  ): Promise<{ count: number; held: Id[] }> {
    return this.all(EVENTS, EVENTS_LOCKED, (after) => [environmentId, after, reason, uuidArray(eventIds), targetId]);
  }

  async reasonOf({ environmentId, eventId, ordinal }: DeliveryKey): Promise<CancelReason | null> {
    const [row] = await this.database.queryPrepared<{ withdrawn: CancelReason | null }>(REASON, [
      environmentId,
      eventId,
      ordinal,
    ]);
    return row?.withdrawn ?? null;
  }

  held(after: TargetKey | null): Promise<TargetKey[]> {
    return this.database.queryPrepared(HELD, [after?.environmentId ?? -1, after?.targetId ?? FIRST]);
  }

  /**
   * Cancels in steps, and commits each step separately. A second pass processes the rows that were locked during the
   * first pass.
   */
  private async all(
    quick: Statement,
    locked: Statement,
    values: (after: Id) => unknown[],
  ): Promise<{ count: number; held: Id[] }> {
    const held = new Set<Id>();
    let count = 0;
    for (const [statement, limit] of [
      [quick, STEP],
      [locked, 1],
    ] as const) {
      let after = FIRST;
      for (let picked: number = limit; picked === limit;) {
        const [step] = await this.database.queryPrepared<Step>(statement, values(after));
        picked = step?.picked ?? 0;
        after = step?.last ?? after;
        count += picked;
        for (const target of step?.held ?? []) held.add(target);
      }
    }
    return { count, held: [...held] };
  }
}
