import { Injectable } from '@nestjs/common';
import { type Circuit, CLOSED } from '#engine/circuit.js';
import type { Columns } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { intArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import { type CircuitChange, shownTarget, type TargetCircuit } from '#modules/destinations/contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { DestinationNamesStore } from './destination-names.store.js';
import type { CircuitEntity } from './destinations.entities.js';

type Row = Columns<
  Pick<
    CircuitEntity,
    'environmentId' | 'targetId' | 'state' | 'consecutiveFailures' | 'openedAt' | 'probeAt' | 'probes'
  >
>;

type TargetKey = Pick<CircuitChange, 'environmentId' | 'targetId'>;

/** A changed failure count of a circuit that stays closed. `i` is the index of the circuit among the changes. */
interface Count {
  i: number;
  change: CircuitChange;
  /** `null` if the circuit has no row. */
  version: string | null;
  before: Circuit;
  next: Circuit;
}

const COLUMNS = 'environment_id, target_id, state, consecutive_failures, opened_at, probe_at, probes';

const TROUBLED: Statement = {
  name: 'circuits.troubled',
  // Uses the indexes `circuits_shut_idx` and `circuits_changed_at_idx`.
  text: `
    select ${COLUMNS} from circuits where state <> 'closed'
    union all
    (select ${COLUMNS} from circuits where state = 'closed' and changed_at > now() - interval '1 minute'
      order by changed_at desc limit 2000)`,
};

const FIND_THESE: Statement = {
  name: 'circuits.find_these',
  // Uses the index `circuits_pkey`.
  text: `
    select ${COLUMNS}, c.xmin::text as version
    from unnest($1::int[], $2::uuid[]) as k(environment_id, target_id) join circuits c using (environment_id,
      target_id)`,
};

/**
 * Updates failure counts of circuits that stay closed, unless the row changed since it was read. Skips rows that
 * another transaction has locked, so the statement never waits. Uses the index `circuits_pkey`.
 */
const COUNT: Statement = {
  name: 'circuits.count',
  text: `
    with k as (
      select * from unnest($1::int[], $2::uuid[], $3::text[], $4::int[]) as k(environment_id, target_id, version,
        failures)
    ), found as (
      select c.environment_id, c.target_id, k.failures from k join circuits c using (environment_id, target_id)
      where c.xmin::text = k.version order by 1, 2 for update of c skip locked
    ), cleared as (
      delete from circuits c using found f where c.environment_id = f.environment_id and c.target_id = f.target_id
        and f.failures = 0
    ), counted as (
      update circuits c set consecutive_failures = f.failures, changed_at = now() from found f
      where c.environment_id = f.environment_id and c.target_id = f.target_id and f.failures > 0
    ), begun as (
      insert into circuits (${COLUMNS}) select environment_id, target_id, 'closed', failures, null, null, 0 from k
      where version is null and failures > 0 order by 1, 2 on conflict do nothing returning environment_id, target_id
    )
    select environment_id, target_id from found union all select environment_id, target_id from begun`,
};

const FORGOTTEN_AT_ONCE = 1000;
const FORGET: Statement = {
  name: 'circuits.forget',
  // Deletes circuits that have not changed for two days, if they are closed or belong to an ad-hoc URL or a deleted
  // destination. Retries to an ad-hoc URL end after 28 hours, so no delivery needs its circuit after two days without a
  // change. Uses the index `circuits_changed_at_idx`.
  text: `
    delete from circuits where (environment_id, target_id) in (
      select environment_id, target_id from circuits c
      where changed_at < now() - interval '2 days'
        and (state = 'closed' or not exists (select from destinations d where d.environment_id = c.environment_id
          and d.id = c.target_id))
      order by changed_at limit ${FORGOTTEN_AT_ONCE} for update skip locked)
    returning 1`,
};

const FIND: Statement = {
  name: 'circuits.find',
  // Uses the index `circuits_pkey`.
  text: `select ${COLUMNS} from circuits where environment_id = $1::int and target_id = $2::uuid`,
};

const FIND_ALL: Statement = {
  name: 'circuits.find_all',
  // Uses the index `circuits_pkey`.
  text: `select ${COLUMNS} from circuits where environment_id = $1::int and target_id = any($2::uuid[])`,
};

const ENSURE: Statement = {
  name: 'circuits.ensure',
  text: `
    insert into circuits (${COLUMNS}) values ($1::int, $2::uuid, 'closed', 0, null, null, 0)
    on conflict (environment_id, target_id) do nothing`,
};

const LOCK: Statement = { name: 'circuits.lock', text: `${FIND.text} for update` };

const SAVE: Statement = {
  name: 'circuits.save',
  // Uses the index `circuits_pkey`.
  text: `
    update circuits set changed_at = now(), state = $3, consecutive_failures = $4::int, opened_at = $5::timestamptz,
      probe_at = $6::timestamptz, probes = $7::int
    where environment_id = $1::int and target_id = $2::uuid`,
};

const REMOVE: Statement = {
  name: 'circuits.remove',
  // Uses the index `circuits_pkey`.
  text: 'delete from circuits where environment_id = $1::int and target_id = $2::uuid',
};

/** Stores the state of circuit breakers. */
@Injectable()
export class CircuitsStore {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly names: DestinationNamesStore,
    private readonly systemEvents: SystemEvents,
  ) {}

  /** Returns all circuits that are not closed, and closed circuits with a failure in the last minute. */
  async troubled(): Promise<TargetCircuit[]> {
    const rows = await this.database.query<Row>(TROUBLED);
    return rows.map((row) => ({ environmentId: row.environment_id, targetId: row.target_id, circuit: circuit(row) }));
  }

  /** Returns circuits in the order of the given targets. */
  async these(targets: readonly TargetKey[]): Promise<Circuit[]> {
    const found = await this.found(targets);
    return targets.map((target) => found.get(keyOf(target))?.before ?? CLOSED);
  }

  async find(environmentId: number, targetId: Id): Promise<Circuit> {
    const [row] = await this.database.query<Row>(FIND, [environmentId, targetId]);
    return row ? circuit(row) : CLOSED;
  }

  /** Returns the circuits of the given targets. Omits circuits that are closed and have no failures. */
  async findAll(environmentId: number, targetIds: readonly Id[]): Promise<Map<Id, Circuit>> {
    const rows = await this.database.query<Row>(FIND_ALL, [environmentId, targetIds]);
    return new Map(rows.map((row) => [row.target_id, circuit(row)]));
  }

  /**
   * Applies changes and returns the new circuits, in order. Circuits that stay closed are written together, with two
   * statements outside a transaction. A circuit is written individually if its state changes, or if another worker
   * changes it at the same time.
   */
  async changeAll(changes: readonly CircuitChange[]): Promise<Circuit[]> {
    const found = await this.found(changes);
    const counts: Count[] = [];
    const alone: number[] = [];
    const became = changes.map((change, i) => {
      const { before, version } = found.get(keyOf(change)) ?? { before: CLOSED, version: null };
      const next = change.change(before);
      if (before.state !== 'closed' || next.state !== 'closed') alone.push(i);
      else if (next !== before) counts.push({ i, change, version, before, next });
      return next;
    });
    const counted = await this.count(counts);
    alone.push(...counts.filter(({ change }) => !counted.has(keyOf(change))).map(({ i }) => i));
    for (const i of alone) {
      const { environmentId, targetId, change } = changes[i] as CircuitChange;
      became[i] = await this.change(environmentId, targetId, change);
    }
    return became;
  }

  /**
   * Deletes a batch of circuits that have not changed for two days and are not needed any longer. Returns true if more
   * may remain.
   */
  async forget(): Promise<boolean> {
    return (await this.database.query(FORGET)).length === FORGOTTEN_AT_ONCE;
  }

  /**
   * Changes one circuit under its row lock, and publishes the change if other workers need it. Returns the new circuit.
   */
  change(environmentId: number, targetId: Id, change: (circuit: Circuit) => Circuit): Promise<Circuit> {
    return this.database.transaction(async () => {
      const before = await this.lock(environmentId, targetId);
      const next = change(before);
      if (isClean(next)) {
        await this.database.query(REMOVE, [environmentId, targetId]);
      } else if (next !== before) {
        await this.database.query(SAVE, [
          environmentId,
          targetId,
          next.state,
          next.consecutiveFailures,
          next.openedAt,
          next.probeAt,
          next.probes,
        ]);
      }
      if (isNews(before, next)) await this.notifications.announce('circuit', `${environmentId}:${targetId}`);
      if ((next.state === 'closed') !== (before.state === 'closed')) await this.note(environmentId, targetId, next);
      return next;
    });
  }

  /** Returns the current circuits with the versions of their rows. */
  private async found(targets: readonly TargetKey[]): Promise<Map<string, { before: Circuit; version: string }>> {
    const rows = await this.database.query<Row & { version: string }>(FIND_THESE, [
      intArray(targets.map(({ environmentId }) => environmentId)),
      uuidArray(targets.map(({ targetId }) => targetId)),
    ]);
    return new Map(
      rows.map((row) => [
        keyOf({ environmentId: row.environment_id, targetId: row.target_id }),
        { before: circuit(row), version: row.version },
      ]),
    );
  }

  private async count(counts: readonly Count[]): Promise<Set<string>> {
    if (counts.length === 0) return new Set();
    const rows = await this.database.query<Pick<Row, 'environment_id' | 'target_id'>>(COUNT, [
      intArray(counts.map(({ change }) => change.environmentId)),
      uuidArray(counts.map(({ change }) => change.targetId)),
      textArray(counts.map(({ version }) => version)),
      intArray(counts.map(({ next }) => next.consecutiveFailures)),
    ]);
    const written = new Set(rows.map((row) => keyOf({ environmentId: row.environment_id, targetId: row.target_id })));
    const news = counts.filter(({ change, before, next }) => written.has(keyOf(change)) && isNews(before, next));
    if (news.length > 0)
      await this.notifications.announceAll(
        'circuit',
        news.map(({ change, next }) => (isClean(next) ? keyOf(change) : `${keyOf(change)}:failing`)),
      );
    return written;
  }

  /** Records a system event for an opened or closed circuit. Ignores ad-hoc URLs, because their ids are internal. */
  private async note(environmentId: number, targetId: Id, { state }: Circuit): Promise<void> {
    const [destination] = await this.names.find(environmentId, [targetId]);
    if (!destination) return;
    const type = state === 'closed' ? 'circuit.closed' : 'circuit.opened';
    await this.systemEvents.note({ environmentId, type, subject: targetId, details: shownTarget(destination) });
  }

  /** Returns the circuit, and locks its row until the transaction ends. */
  private async lock(environmentId: number, targetId: Id): Promise<Circuit> {
    // Retries, because the row of a closed circuit may be deleted between the two statements.
    for (;;) {
      await this.database.query(ENSURE, [environmentId, targetId]);
      const [row] = await this.database.query<Row>(LOCK, [environmentId, targetId]);
      if (row) return circuit(row);
    }
  }
}

function circuit(row: Row): Circuit {
  const { state, consecutive_failures: consecutiveFailures, opened_at: openedAt, probe_at: probeAt, probes } = row;
  return state === 'closed' && consecutiveFailures === 0
    ? CLOSED
    : { state, consecutiveFailures, openedAt, probeAt, probes };
}

const keyOf = ({ environmentId, targetId }: TargetKey): string => `${environmentId}:${targetId}`;

/** Returns whether to publish the change to other workers. A further failure of a closed circuit is not published. */
function isNews(before: Circuit, next: Circuit): boolean {
  return next !== before && (before.state !== 'closed' || next.state !== 'closed' || isClean(before) !== isClean(next));
}

function isClean({ state, consecutiveFailures }: Circuit): boolean {
  return state === 'closed' && consecutiveFailures === 0;
}
