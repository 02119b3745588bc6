import 'reflect-metadata';
import { SystemClock } from '#kernel/clock.js';
import { type Config, loadConfig } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { SeenClockStore } from '#kernel/database/seen-clock.store.js';
import { Ids } from '#kernel/ids.js';
import { OperatorAudit } from '#modules/audit/operator-audit.js';
import { NO_MASTER_KEY, runOnDatabase } from '../bootstrap/command-database.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { expectNoArguments } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

/**
 * Confirms that a jump of the clock was correct, so that retention deletes expired data again. Writes an audit entry in
 * the same transaction. Returns the text to print.
 */
async function confirm(url: string, config: Config): Promise<string> {
  const source = await openDatabase(url);
  const database = new Database(source, config.completedWith(url, NO_MASTER_KEY));
  try {
    const clock = new SystemClock();
    await followDatabase(clock, (text) => source.query(text));
    const audit = await OperatorAudit.open(database, new Ids(clock));
    return await database.unitOfWork(() =>
      database.transaction(async () => {
        const confirmed = await new SeenClockStore(database).confirm();
        if (confirmed === null) return 'Retention does not wait for a confirmation.\n';
        const [from, to] = [new Date(confirmed.leaptFromMs).toISOString(), new Date(confirmed.seenAtMs).toISOString()];
        await audit.record('posthorn confirm-clock', {
          resourceType: 'clock',
          resourceId: null,
          before: { time: from },
          after: { time: to },
        });
        return `Confirmed: it is ${to}. Retention removes expired data again from now on.\n`;
      }),
    );
  } finally {
    await database.close();
  }
}

let config: Config | null = null;
try {
  expectNoArguments('confirm-clock');
  config = loadConfig();
  process.stdout.write(await runOnDatabase(config, (url, given) => confirm(url, given)));
} catch (error) {
  process.stderr.write(`${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
