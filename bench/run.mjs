/**
 * `npm run bench`: the limit and the service in one call, on one machine, against one PostgreSQL. See README.md.
 *
 * It reports and does not judge: the exit code is 0 unless the bench itself fails.
 */
import { mkdir, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Database } from './database.mjs';
import { startHelper, stopEverything } from './processes.mjs';
import { medianOf, promises, table, verdicts } from './report.mjs';
import { BLOCKS } from './rows.mjs';

const RESULTS = fileURLToPath(new URL('results/latest.json', import.meta.url));
const ROWS = BLOCKS.flatMap((block) => block.rows);

/** @typedef {{ seconds: number, connections: number, rounds: number, only: string[], json: string }} Options */

/** @returns {Options} */
function readOptions() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '15' },
      connections: { type: 'string', default: '128' },
      rounds: { type: 'string', default: '1' },
      only: { type: 'string', default: ROWS.join(',') },
      json: { type: 'string', default: RESULTS },
    },
  });
  const only = values.only.split(',');
  const unknown = only.filter((name) => !ROWS.includes(name));
  if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join(', ')}. Rows: ${ROWS.join(', ')}.`);
  const numbers = { seconds: Number(values.seconds), connections: Number(values.connections), rounds: Number(values.rounds) };
  for (const [name, value] of Object.entries(numbers)) if (!(value >= 1)) throw new Error(`--${name} is a number from 1.`);
  return { ...numbers, only, json: path.resolve(values.json) };
}

/** @param {Options} options @param {string} directory @param {Database} database */
async function runRows(options, directory, database) {
  const { seconds, connections, rounds } = options;
  const load = startHelper('load.mjs');
  const receiver = startHelper('receiver.mjs');
  const { port: receiverPort, countsPort } = await receiver.ask({ kind: 'ports' });
  const bench = { load, receiver, receiverPort, countsPort, database, directory, seconds, connections, nextNumber: 1 };
  /** @type {Map<string, import('./window.mjs').Figures[]>} */
  const measured = new Map();
  for (let round = 1; round <= rounds; round++) {
    // The limit and the service take turns, so a machine that slows down slows both.
    for (const block of BLOCKS.filter(({ rows }) => rows.some((name) => options.only.includes(name)))) {
      await block.run(bench, new Set(options.only), ({ name, figures }) => {
        measured.set(name, [...(measured.get(name) ?? []), figures]);
        process.stderr.write(`${rounds > 1 ? `round ${round}  ` : ''}${name}  ${figures.deliveriesPerSecond.toFixed(0)}/s\n`);
      });
    }
  }
  return measured;
}

/** @param {Options} options @param {Record<string, string>} postgres */
function conditions(options, postgres) {
  const cpus = os.cpus();
  const system = `${os.type()} ${os.release()}`;
  const machine = { cores: cpus.length, model: cpus[0]?.model ?? '', memoryBytes: os.totalmem(), system };
  return { date: new Date().toISOString(), machine, node: process.version, postgres, options };
}

/** @param {Options} options @param {string} directory @param {Promise<Database>} starting */
async function runBench(options, directory, starting) {
  const database = await starting;
  const at = conditions(options, database.settings);
  console.log(`${headline(at)}\n`);
  const measured = await runRows(options, directory, database);
  const rows = new Map([...measured].map(([name, rounds]) => [name, medianOf(rounds)]));
  const promised = promises(rows);
  const result = { ...at, promises: promised, rows: Object.fromEntries(rows), rounds: Object.fromEntries(measured) };
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`\n${table(rows)}\n\n${verdicts(promised)}\n\n${path.relative('', options.json)}`);
}

/** @param {ReturnType<typeof conditions>} at */
function headline({ machine, node, postgres, options: { seconds, connections, rounds } }) {
  const durable = `fsync ${postgres.fsync}, synchronous_commit ${postgres.synchronous_commit}`;
  return [
    `${machine.cores} cores ${machine.model}, Node ${node}`,
    `PostgreSQL ${postgres.server_version} on ${postgres.disk}, ${durable}`,
    `${seconds} s a row, ${connections} connections, ${rounds} round${rounds === 1 ? '' : 's'}`,
  ].join('\n');
}

const options = readOptions();
const directory = await mkdtemp(path.join(os.tmpdir(), 'posthorn-bench-'));
// PostgreSQL refuses to run as root and then runs as somebody who must be able to get in.
await chmod(directory, 0o755);
const starting = Database.start(directory);
const interrupted = new Promise((resolve) => {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => resolve(signal));
});
try {
  const run = runBench(options, directory, starting);
  run.catch(() => undefined); // what fails because of Ctrl-C is not worth a message
  const signal = await Promise.race([run, interrupted]);
  if (signal !== undefined) process.exitCode = 130;
} finally {
  await stopEverything();
  await (await starting.catch(() => null))?.stop();
  await rm(directory, { recursive: true, force: true });
}
process.exit();
