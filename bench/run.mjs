/**
 * `npm run bench`: measures the service and its upper limit, or compares this tree with another checkout. A missed
 * budget does not change the exit code. See README.md.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compareCheckouts, sidesOf } from './against.mjs';
import { budgetLines, judgeAll } from './budgets.mjs';
import { commitOf, HERE, stopCheckouts } from './checkout.mjs';
import { Database, stopDatabases } from './database.mjs';
import { historyOf, readHistory, remember } from './history.mjs';
import { memoryTable, PER_SECOND } from './memory.mjs';
import { readOptions } from './options.mjs';
import { compare, comparisonLines, slicesTable } from './paired-report.mjs';
import { startHelper, stopEverything } from './processes.mjs';
import { summaryOf, table } from './report.mjs';
import { BLOCKS } from './rows.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./slices.mjs').Slice} Slice */
/** @typedef {Map<string, import('./window.mjs').Figures[]>} Rounds by row */

/**
 * @param {Options} options
 * @param {string} directory
 * @param {Database} database
 * @returns {Promise<import('./window.mjs').Bench>}
 */
async function openBench({ seconds, connections, slice }, directory, database) {
  const load = startHelper('load.mjs');
  const receiver = startHelper('receiver.mjs');
  const { port: receiverPort, countsPort } = await receiver.ask({ kind: 'ports' });
  return { load, receiver, receiverPort, countsPort, database, directory, seconds, slice, connections, nextNumber: 1 };
}

/** @param {Options} options @param {import('./window.mjs').Bench} bench */
async function runRows(options, bench) {
  /** @type {Rounds} */
  const measured = new Map();
  /** @type {Slice[]} */
  const slices = [];
  /** @param {import('./rows.mjs').Row} row */
  const keep = ({ name, figures, round, half }) => {
    measured.set(name, [...(measured.get(name) ?? []), figures]);
    if (round !== undefined && half !== undefined) slices.push({ name, round, half, figures });
    process.stderr.write(`${name}  ${figures.deliveriesPerSecond.toFixed(0)}/s\n`);
  };
  if (options.against !== null) {
    await compareCheckouts(bench, { ...options, against: options.against }, keep);
  } else {
    for (let round = 1; round <= options.rounds; round++) {
      if (options.rounds > 1) process.stderr.write(`round ${round}\n`);
      for (const block of BLOCKS.filter(({ rows }) => rows.some((name) => options.only.includes(name)))) {
        await block.run(bench, new Set(options.only), keep);
      }
    }
  }
  return { measured, slices };
}

/**
 * Compares the slices of each row in pairs: this working tree with the other checkout, or the service with the minimal
 * program.
 *
 * @param {Options} options
 * @param {readonly Slice[]} slices
 */
function compareAll({ against, only, tolerance }, slices) {
  if (against !== null) return only.map(sidesOf).map(({ own, other }) => compare(slices, own, other, tolerance));
  const names = [...new Set(slices.map(({ name }) => name))];
  const sustained = names.includes('limit') ? 'limit' : 'service';
  return names.flatMap((name) => {
    const reference =
      names.find((other) => other === `${name}:alone`) ??
      (name.startsWith('service') ? sustained : name === 'receive' ? 'service' : name);
    return names.includes(reference) && reference !== name ? [compare(slices, name, reference, tolerance)] : [];
  });
}

/** @param {Options} options @param {Record<string, string>} postgres */
function conditions(options, postgres) {
  const cpus = os.cpus();
  const machine = {
    name: os.hostname(),
    cores: cpus.length,
    model: cpus[0]?.model ?? '',
    memoryBytes: os.totalmem(),
    system: `${os.type()} ${os.release()}`,
    kernel: os.release(),
  };
  const against = options.against === null ? null : { path: options.against, ...commitOf(options.against) };
  return {
    date: new Date().toISOString(),
    machine,
    node: process.version,
    postgres,
    ...commitOf(HERE),
    against,
    options,
  };
}

/** @param {Options} options @param {string} directory @param {Promise<Database>} starting */
async function runBench(options, directory, starting) {
  const database = await starting;
  const at = conditions(options, database.settings);
  console.log(`${headline(at)}\n`);
  const { measured, slices } = await runRows(options, await openBench(options, directory, database));
  const rows = new Map([...measured].map(([name, rounds]) => [name, summaryOf(rounds)]));
  const comparisons = compareAll(options, slices);
  const judged =
    options.against === null
      ? judgeAll({ rows, rounds: measured, slices, connections: options.connections, memoryPerSecond: PER_SECOND })
      : [];
  const result = {
    ...at,
    budgets: judged,
    comparisons,
    rows: Object.fromEntries(rows),
    rounds: Object.fromEntries(measured),
    slices: slices.map(({ name, round, half }) => ({ name, round, half })),
  };
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
  await remember(result);
  const parts = [
    ...(options.against === null ? [table(rows, measured)] : []),
    ...[...rows.values()].flatMap(({ memory }) => (memory === undefined ? [] : [memoryTable(memory)])),
    ...(slices.length > 0 ? [slicesTable(slices)] : []),
    ...comparisons.map(comparisonLines),
    ...(judged.length > 0 ? [budgetLines(judged)] : []),
    path.relative('', options.json),
  ];
  console.log(`\n${parts.join('\n\n')}`);
}

/** @param {ReturnType<typeof conditions>} at */
function headline({ machine, node, postgres, commit, isDirty, against, options }) {
  const { seconds, connections, rounds, slice, spin } = options;
  const durable = `fsync ${postgres.fsync}, synchronous_commit ${postgres.synchronous_commit}`;
  const named = (/** @type {{ commit: string, isDirty: boolean }} */ tree) =>
    `${tree.commit || 'no commit'}${tree.isDirty ? ' and changes' : ''}`;
  const span = against === null ? `${seconds} s a row, ` : '';
  return [
    `${machine.name}: ${machine.cores} cores ${machine.model}, ${machine.system}, Node ${node}`,
    `PostgreSQL ${postgres.server_version} on ${postgres.disk}, ${durable}`,
    `${named({ commit, isDirty })}${spin > 0 ? `, burning ${spin} us a delivery` : ''}${against === null ? '' : ` against ${named(against)} in ${against.path}`}`,
    `${span}slices of ${slice} s, ${connections} connections, ${rounds} round${rounds === 1 ? '' : 's'}`,
  ].join('\n');
}

/** @param {Options} options */
async function main(options) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'posthorn-bench-'));
  // PostgreSQL refuses to run as root, so it is started as another user. That user needs access to the directory.
  await chmod(directory, 0o755);
  const starting = Database.start(directory);
  const interrupted = new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => resolve(signal));
  });
  try {
    const run = runBench(options, directory, starting);
    run.catch(() => undefined); // errors caused by Ctrl-C need no message
    const signal = await Promise.race([run, interrupted]);
    if (signal !== undefined) process.exitCode = 130;
  } finally {
    await Promise.all([stopEverything(), stopCheckouts()]);
    await stopDatabases();
    await rm(directory, { recursive: true, force: true });
  }
}

const options = readOptions(process.argv.slice(2));
if (options.history === null) await main(options);
else console.log(historyOf(readHistory(), options.history));
process.exit();
