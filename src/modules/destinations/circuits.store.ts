import { Injectable } from '@nestjs/common';
import { type Circuit, CLOSED } from '#engine/circuit.js';
import { Circuits, DestinationNames, shownTarget, type TargetCircuit } from '#modules/destinations/contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';

/** A row of `circuits`. */
interface Row {
  environment_id: number;
  target_id: Id;
  state: Circuit['state'];
  consecutive_failures: number;
  opened_at: Date | null;
  probe_at: Date | null;
  probes: number;
}

const COLUMNS = 'environment_id, target_id, state, consecutive_failures, opened_at, probe_at, probes';

const TROUBLED: Statement = {
  name: 'circuits.troubled',
  // The whole table: it holds troubled targets only.
  text: `select ${COLUMNS} from circuits`,
};

const FIND: Statement = {
  name: 'circuits.find',
  // Index circuits_pkey.
  text: `select ${COLUMNS} from circuits where environment_id = $1::int and target_id = $2::uuid`,
};

const FIND_ALL: Statement = {
  name: 'circuits.find_all',
  // Index circuits_pkey.
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
  // Index circuits_pkey.
  text: `
    update circuits set state = $3, consecutive_failures = $4::int, opened_at = $5::timestamptz, probe_at = $6::timestamptz, probes = $7::int
    where environment_id = $1::int and target_id = $2::uuid`,
};

const REMOVE: Statement = {
  name: 'circuits.remove',
  // Index circuits_pkey.
  text: 'delete from circuits where environment_id = $1::int and target_id = $2::uuid',
};

/** Circuits, each changed under its row's lock. */
@Injectable()
export class CircuitsStore extends Circuits {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly names: DestinationNames,
    private readonly systemEvents: SystemEvents,
  ) {
    super();
  }

  override async troubled(): Promise<TargetCircuit[]> {
    const rows = await this.database.query<Row>(TROUBLED);
    return rows.map((row) => ({ environmentId: row.environment_id, targetId: row.target_id, circuit: circuit(row) }));
  }

  /** The circuit of one target. */
  async find(environmentId: number, targetId: Id): Promise<Circuit> {
    const [row] = await this.database.query<Row>(FIND, [environmentId, targetId]);
    return row ? circuit(row) : CLOSED;
  }

  override async findAll(environmentId: number, targetIds: readonly Id[]): Promise<Map<Id, Circuit>> {
    const rows = await this.database.query<Row>(FIND_ALL, [environmentId, targetIds]);
    return new Map(rows.map((row) => [row.target_id, circuit(row)]));
  }

  override change(environmentId: number, targetId: Id, change: (circuit: Circuit) => Circuit): Promise<Circuit> {
    return this.database.transaction(async () => {
      const before = await this.lock(environmentId, targetId);
      const next = change(before);
      if (isClean(next)) {
        await this.database.query(REMOVE, [environmentId, targetId]);
      } else if (next !== before) {
        await this.database.query(SAVE, [
          environmentId, targetId, next.state, next.consecutiveFailures, next.openedAt, next.probeAt, next.probes,
        ]);
      }
      if (next !== before) await this.notifications.announce('circuit', `${environmentId}:${targetId}`);
      if ((next.state === 'closed') !== (before.state === 'closed')) await this.note(environmentId, targetId, next);
      return next;
    });
  }

  /** A probe that fails leaves a circuit open: only the first opening is told. Nobody knows an ad-hoc URL by its id. */
  private async note(environmentId: number, targetId: Id, { state }: Circuit): Promise<void> {
    const [destination] = await this.names.find(environmentId, [targetId]);
    if (!destination) return;
    const type = state === 'closed' ? 'circuit.closed' : 'circuit.opened';
    await this.systemEvents.note({ environmentId, type, subject: targetId, details: shownTarget(destination) });
  }

  /** The circuit, which nobody else changes until the transaction ends. */
  private async lock(environmentId: number, targetId: Id): Promise<Circuit> {
    // A loop, because a clean circuit's row may be removed between the two statements.
    for (;;) {
      await this.database.query(ENSURE, [environmentId, targetId]);
      const [row] = await this.database.query<Row>(LOCK, [environmentId, targetId]);
      if (row) return circuit(row);
    }
  }
}

function circuit(row: Row): Circuit {
  const { state, consecutive_failures: consecutiveFailures, opened_at: openedAt, probe_at: probeAt, probes } = row;
  return state === 'closed' && consecutiveFailures === 0 ? CLOSED : { state, consecutiveFailures, openedAt, probeAt, probes };
}

function isClean({ state, consecutiveFailures }: Circuit): boolean {
  return state === 'closed' && consecutiveFailures === 0;
}
