import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ROWS_AGAINST } from './against.mjs';
import { BLOCKS } from './rows.mjs';

const RESULTS = fileURLToPath(new URL('results/latest.json', import.meta.url));
const ROWS = BLOCKS.flatMap((block) => block.rows);
/** Number of rounds with `--against`, each with two pairs of slices. Twelve detect a 5 % change on an idle machine. */
const ROUNDS_AGAINST = '12';

/**
 * Options of the command. `tolerance` is a fraction. With `history`, the bench prints that row's history and measures
 * nothing.
 *
 * @typedef {{
 * seconds: number, connections: number, rounds: number, slice: number, tolerance: number, spin: number, only:
 * string[],
 * json: string, against: string | null, history: string | null,
 * }} Options
 */

/** @param {string[]} args @returns {Options} */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '15' },
      connections: { type: 'string', default: '128' },
      rounds: { type: 'string' },
      slice: { type: 'string', default: '3' },
      only: { type: 'string' },
      json: { type: 'string', default: RESULTS },
      against: { type: 'string' },
      tolerance: { type: 'string', default: '3' },
      spin: { type: 'string', default: '0' },
      history: { type: 'string' },
    },
  });
  const { against, history = null } = values;
  const rows = against === undefined ? ROWS : ROWS_AGAINST;
  const only = (values.only ?? (against === undefined ? ROWS.join(',') : 'service')).split(',');
  const unknown = only.filter((name) => !rows.includes(name));
  if (unknown.length > 0) throw new Error(`--only: there is no row ${unknown.join(', ')}. Rows: ${rows.join(', ')}.`);
  const numbers = {
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    slice: Number(values.slice),
    rounds: Number(values.rounds ?? (against === undefined ? '1' : ROUNDS_AGAINST)),
  };
  for (const [name, value] of Object.entries(numbers))
    if (!(value >= 1)) throw new Error(`--${name} must be a number of at least 1.`);
  const [tolerance, spin] = [Number(values.tolerance) / 100, Number(values.spin)];
  if (!(tolerance > 0 && tolerance < 1)) throw new Error('--tolerance must be a percentage.');
  if (!(spin >= 0)) throw new Error('--spin must be a number of microseconds.');
  if (spin > 0 && against === undefined) throw new Error('--spin needs --against.');
  return {
    ...numbers,
    tolerance,
    spin,
    only,
    json: path.resolve(values.json),
    against: against === undefined ? null : path.resolve(against),
    history,
  };
}
