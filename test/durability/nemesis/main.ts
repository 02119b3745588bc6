/**
 * `npm run nemesis -- --minutes 60 --seed 7 --only kill-worker,postgres-cut --json FILE`: injects faults for the given
 * time, one by one or several at once (`--at-once 3`). With `--short` each fault is as short as in CI. The exit code is
 * 0 if every guarantee was met and deliveries recovered in time after every fault.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import globalSetup from '../../support/global-setup.mjs';
import globalTeardown from '../../support/global-teardown.mjs';
import { Seeded } from '../random.js';
import { FLEETS, isPossible } from './fleet.js';
import { kindNamed, KINDS } from './kinds.js';
import { header, row, summary } from './progress.js';
import { Run } from './run.js';

const RESULTS = path.resolve(import.meta.dirname, '..', 'results', 'nemesis.json');

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: KINDS.map(({ name }) => name).join(',') },
    fleets: { type: 'string', default: FLEETS.join(',') },
    'at-once': { type: 'string', default: '3' },
    'at-least': { type: 'string', default: '1' },
    short: { type: 'boolean', default: false },
    json: { type: 'string', default: RESULTS },
  },
});
const [minutes, seed, atOnceMin, atOnceMax] = [
  Number(values.minutes),
  Number(values.seed),
  Number(values['at-least']),
  Number(values['at-once']),
];
if (!(minutes > 0) || !Number.isInteger(seed) || !(atOnceMin > 0) || !(atOnceMax >= atOnceMin)) {
  throw new Error(
    '--minutes and --at-least are numbers above 0, --at-once is no fewer than --at-least, --seed a whole number.',
  );
}
const kinds = values.only.split(',').map(kindNamed);
const fleets = FLEETS.filter(
  (fleet) =>
    values.fleets.split(',').includes(fleet) && kinds.some((kind) => kind.fleets.includes(fleet)) && isPossible(fleet),
);
if (fleets.length === 0) throw new Error('None of these kinds can be inflicted here.');

await globalSetup();
const run = new Run({
  kinds,
  fleets,
  dice: new Seeded(seed),
  seed,
  minutes,
  atOnceMin,
  atOnceMax,
  isShort: values.short,
});
const interrupted = new Promise<void>((resolve) => process.once('SIGINT', () => resolve()));
process.stdout.write(`seed ${seed}, ${minutes} minutes, on ${fleets.join(', ')}\n${header()}\n`);
try {
  const write = (): void => {
    mkdirSync(path.dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify(run.results(), null, 1)}\n`);
  };
  await Promise.race([
    interrupted,
    run.run((done) => {
      process.stdout.write(`${row(done)}\n`);
      write();
    }),
  ]);
  write();
  process.stdout.write(`\n${summary(run.results())}\n\n${path.relative('', values.json)}\n`);
} finally {
  await run.stop();
  await globalTeardown();
}
process.exit(run.results().isClean ? 0 : 1);
