import { Inject, Injectable } from '@nestjs/common';
import type { SeenClock } from '../clock-leap.js';
import { Database, type Statement } from './database.js';

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

// The table has a single row. Every statement uses the index seen_clock_pkey.
const READ: Statement = { name: 'seen_clock.read', text: `select ${COLUMNS} from seen_clock where id = 1` };
const BEGIN: Statement = {
  name: 'seen_clock.begin',
  text: 'insert into seen_clock (seen_at) values (clock_timestamp()) on conflict do nothing',
};
const LOCK: Statement = { name: 'seen_clock.lock', text: 'select 1 from seen_clock where id = 1 for update' };
const WRITE: Statement = {
  name: 'seen_clock.write',
  text: `
    update seen_clock set seen_at = to_timestamp($1::float8 / 1000), leapt_from = to_timestamp($2::float8 / 1000),
      waited_ms = $3::float8
    where id = 1 returning ${COLUMNS}`,
};
const CONFIRM: Statement = {
  name: 'seen_clock.confirm',
  text: `
    update seen_clock s set seen_at = clock_timestamp(), leapt_from = null, waited_ms = 0
    from (select leapt_from from seen_clock where id = 1 for update) before
    where s.id = 1 and before.leapt_from is not null returning ${MS('before.leapt_from')} as leapt_from_ms,
      ${MS('s.seen_at')} as seen_ms`,
};

@Injectable()
export class SeenClockStore {
  constructor(@Inject(Database) private readonly database: Database) {}

  /** Returns the stored observation. If there is none, stores the current time first. */
  async read(): Promise<ClockObservation> {
    const [row] = await this.database.query<Row>(READ);
    if (row !== undefined) return lookOf(row);
    await this.database.query(BEGIN);
    return this.read();
  }

  /** Changes the stored state, one process at a time. Returns the new state. */
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

  /** Ends the pause of retention in the caller's transaction. Returns null if retention is not paused. */
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
