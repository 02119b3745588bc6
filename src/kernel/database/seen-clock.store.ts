import { Inject, Injectable } from '@nestjs/common';
import type { SeenClock } from '../clock-leap.js';
import { Database, type Statement } from './database.js';

/** The stored row, and PostgreSQL's current time. */
export interface ClockObservation {
  seen: SeenClock;
  nowMs: number;
}

interface Row {
  seen_ms: number;
  leapt_from_ms: number | null;
  waited_ms: number;
  now_ms: number;
}

const MS = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
const COLUMNS = `${MS('seen_at')} as seen_ms, ${MS('leapt_from')} as leapt_from_ms, waited_ms::float8 as waited_ms, ${MS('clock_timestamp()')} as now_ms`;

// One row: seen_clock_pkey serves every statement.
const READ: Statement = { name: 'seen_clock.read', text: `select ${COLUMNS} from seen_clock where id = 1` };
const BEGIN: Statement = {
  name: 'seen_clock.begin',
  text: 'insert into seen_clock (seen_at) values (clock_timestamp()) on conflict do nothing',
};
const LOCK: Statement = { name: 'seen_clock.lock', text: 'select 1 from seen_clock where id = 1 for update' };
const WRITE: Statement = {
  name: 'seen_clock.write',
  text: `
    update seen_clock set seen_at = to_timestamp($1::float8 / 1000), leapt_from = to_timestamp($2::float8 / 1000), waited_ms = $3::float8
    where id = 1 returning ${COLUMNS}`,
};
const CONFIRM: Statement = {
  name: 'seen_clock.confirm',
  text: `
    update seen_clock s set seen_at = clock_timestamp(), leapt_from = null, waited_ms = 0
    from (select leapt_from from seen_clock where id = 1 for update) before
    where s.id = 1 and before.leapt_from is not null returning ${MS('before.leapt_from')} as leapt_from_ms, ${MS('s.seen_at')} as seen_ms`,
};

/** Stores the latest reading of PostgreSQL's clock, shared by all processes. */
@Injectable()
export class SeenClockStore {
  constructor(@Inject(Database) private readonly database: Database) {}

  /** Returns the latest reading. Stores the current time first if there is none. */
  async read(): Promise<ClockObservation> {
    const [row] = await this.database.query<Row>(READ);
    if (row !== undefined) return lookOf(row);
    await this.database.query(BEGIN);
    return this.read();
  }

  /** Replaces the reading with the result of `next`, one process at a time. Returns the stored state. */
  change(next: (clockObservation: ClockObservation) => SeenClock): Promise<ClockObservation> {
    return this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.database.query(LOCK);
        const { seenAtMs, leaptFromMs, waitedMs } = next(await this.read());
        const [row] = await this.database.query<Row>(WRITE, [seenAtMs, leaptFromMs, Math.round(waitedMs)]);
        return lookOf(row as Row);
      }),
    );
  }

  /**
   * Ends the pause. Returns the start and end of the jump, or null if retention is not paused. Runs in the caller's
   * transaction.
   */
  async confirm(): Promise<{ leaptFromMs: number; seenAtMs: number } | null> {
    const [row] = await this.database.query<Pick<Row, 'leapt_from_ms' | 'seen_ms'>>(CONFIRM);
    return row === undefined ? null : { leaptFromMs: Number(row.leapt_from_ms), seenAtMs: row.seen_ms };
  }
}

function lookOf({
  seen_ms: seenAtMs,
  leapt_from_ms: leaptFromMs,
  waited_ms: waitedMs,
  now_ms: nowMs,
}: Row): ClockObservation {
  return { seen: { seenAtMs, leaptFromMs, waitedMs }, nowMs };
}
