/** Appends one line of JSON with all slices of a run to the history file, for comparing a benchmark row over time. */
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { costOf } from './paired-report.mjs';
import { spreadOf } from './statistics.mjs';

const FILE = fileURLToPath(new URL('results/history.jsonl', import.meta.url));

/**
 * @typedef {object} Entry
 * @property {string} date
 * @property {{ spin: number }} options
 * @property {string} commit
 * @property {boolean} isDirty
 * @property {{ name: string, cores: number, model: string, kernel: string }} machine
 * @property {{ path: string, commit: string, isDirty: boolean } | null} against
 * @property {Record<string, import('./window.mjs').Figures[]>} rounds by row
 * @property {import('./paired-report.mjs').Comparison[]} comparisons
 */

/** @param {object} entry */
export async function remember(entry) {
  await mkdir(path.dirname(FILE), { recursive: true });
  await appendFile(FILE, `${JSON.stringify(entry)}\n`);
}

/** @returns {Entry[]} */
export function readHistory() {
  if (!existsSync(FILE)) return [];
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/**
 * Returns a line for each run that measured the row, oldest first.
 *
 * @param {readonly Entry[]} entries @param {string} row
 */
export function historyOf(entries, row) {
  const lines = entries
    .filter(({ rounds }) => rounds[row] !== undefined)
    .map(({ date, options: { spin }, commit, isDirty, machine, against, rounds, comparisons }) => {
      const figures = rounds[row] ?? [];
      const rate = spreadOf(figures.map(({ deliveriesPerSecond }) => deliveriesPerSecond));
      const cost = spreadOf(figures.map(costOf));
      const percent = (/** @type {(figures: import('./window.mjs').Figures) => number} */ share) =>
        `${(spreadOf(figures.map(share)).median * 100).toFixed(1)} %`;
      const conditions = `steal ${percent(({ steal }) => steal)}, others ${percent(({ others }) => others)}, fsync ${spreadOf(figures.map(({ fsyncMs }) => fsyncMs?.median ?? 0)).median.toFixed(2)} ms`;
      const compared = comparisons
        .filter(({ name }) => name === row)
        .map(({ reference, rate: rateRatio, cpu }) => {
          const other = against === null ? reference : `${against.commit}${against.isDirty ? '+' : ''}`;
          return `; against ${other}: rate ${rateRatio.ratio.toFixed(3)}, ${rateRatio.verdict}; CPU ${cpu.ratio.toFixed(3)}, ${cpu.verdict}`;
        });
      return `${date.slice(0, 16)}  ${commit}${isDirty ? '+' : ''}${spin > 0 ? ` burning ${spin} us` : ''}  ${machine.name}  ${range(rate)}/s  ${range(cost)} us  ${figures.length} x  ${conditions}${compared.join('')}`;
    });
  return lines.length === 0 ? `No run on this checkout has measured ${row}.` : lines.join('\n');
}

/** @param {{ median: number, low: number, high: number }} spread */
const range = ({ median, low, high }) => `${median.toFixed(0)} (${low.toFixed(0)}-${high.toFixed(0)})`;
