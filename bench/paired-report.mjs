/**
 * Reports programs that were measured alternately: the spread of each one's figures, and the ratio between their paired
 * slices with its confidence interval.
 */
import { pairsOf } from './alternation.mjs';
import { fairRate } from './report.mjs';
import { ratioOf, spreadOf, verdictOf } from './statistics.mjs';

/** @typedef {import('./slices.mjs').Slice} Slice */
/** @typedef {import('./window.mjs').Figures} Figures */
/**
 * `rate` and `cpu` are ratios: the figure of `name` divided by the figure of `reference`.
 *
 * @typedef {object} Comparison
 * @property {string} name
 * @property {string} reference
 * @property {Judged} rate
 * @property {Judged} cpu
 * @typedef {import('./statistics.mjs').Ratio & { kind: string, verdict: string }} Judged
 */

const RATE = { more: 'faster', less: 'slower' };
const CPU = { more: 'costs more', less: 'costs less' };

/** Returns the CPU time of service and PostgreSQL, in microseconds per delivery. @param {Figures} figures */
export const costOf = ({ cpuMicros }) => (cpuMicros.service ?? 0) + (cpuMicros.postgres ?? 0);

/**
 * @param {readonly Slice[]} slices
 * @param {string} name
 * @param {string} reference
 * @param {number} tolerance
 * @returns {Comparison}
 */
export function compare(slices, name, reference, tolerance) {
  const pairs = pairsOf(slices, name, reference);
  const judge = (/** @type {(figures: Figures) => number} */ figure, /** @type {typeof RATE} */ words) => {
    const ratio = ratioOf(pairs.map(([one, other]) => [figure(one.figures), figure(other.figures)]));
    const { kind, text } = verdictOf(ratio, tolerance, words);
    return { ...ratio, kind, verdict: text };
  };
  return { name, reference, rate: judge(fairRate, RATE), cpu: judge(costOf, CPU) };
}

/** @param {Comparison} comparison */
export function comparisonLines({ name, reference, rate, cpu }) {
  const line = (/** @type {string} */ what, /** @type {Judged} */ { ratio, low, high, verdict }) =>
    `  ${what} ${ratio.toFixed(3)} ${Number.isFinite(high) ? `(${low.toFixed(3)} to ${high.toFixed(3)})` : '(no interval)'}  ${verdict}`;
  return [
    `${name} / ${reference}, ${rate.pairs} pairs of slices, 95 % interval`,
    line('rate         ', rate),
    line('CPU, delivery', cpu),
  ].join('\n');
}

const HEADER = [
  'row',
  'slices',
  'deliv/s',
  'quartiles',
  'us/deliv',
  'quartiles',
  'service',
  'pg',
  'accept p50',
  'p99',
  'receipt p99',
  'idle',
  'steal',
  'others',
  'waiting',
  'fsync ms',
  'max',
  'commits',
  'WAL B',
  'lost',
  'dup',
];

/** Returns one line for each contestant. @param {readonly Slice[]} slices */
export function slicesTable(slices) {
  const lines = [
    HEADER,
    ...[...new Set(slices.map(({ name }) => name))].map((name) =>
      slicesLine(
        name,
        slices.filter((slice) => slice.name === name),
      ),
    ),
  ];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (/** @type {string} */ cell, /** @type {number} */ i) =>
    i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  return lines.map((line) => line.map(pad).join('  ')).join('\n');
}

/** @param {string} name @param {readonly Slice[]} slices */
function slicesLine(name, slices) {
  const of = (/** @type {(figures: Figures) => number} */ figure) =>
    spreadOf(slices.map(({ figures }) => figure(figures)));
  const median = (/** @type {(figures: Figures) => number} */ figure, digits = 0) => of(figure).median.toFixed(digits);
  const share = (/** @type {(figures: Figures) => number} */ figure) => `${(of(figure).median * 100).toFixed(1)}%`;
  const quartiles = (/** @type {(figures: Figures) => number} */ figure) =>
    `${of(figure).low.toFixed(0)}-${of(figure).high.toFixed(0)}`;
  const sum = (/** @type {(figures: Figures) => number} */ figure) =>
    String(slices.reduce((total, { figures }) => total + figure(figures), 0));
  const rate = (/** @type {Figures} */ { deliveriesPerSecond }) => deliveriesPerSecond;
  return [
    name,
    String(slices.length),
    median(rate),
    quartiles(rate),
    median(costOf),
    quartiles(costOf),
    median(({ cpuMicros }) => cpuMicros.service ?? 0),
    median(({ cpuMicros }) => cpuMicros.postgres ?? 0),
    median(({ accept }) => accept.p50, 1),
    median(({ accept }) => accept.p99, 1),
    median(({ receipt }) => receipt.p99, 1),
    share(({ idle }) => idle),
    share(({ steal }) => steal),
    share(({ others }) => others),
    share(({ waiting }) => waiting),
    median(({ fsyncMs }) => fsyncMs?.median ?? 0, 2),
    Math.max(...slices.map(({ figures }) => figures.fsyncMs?.max ?? 0)).toFixed(1),
    median(({ commits }) => commits, 3),
    median(({ walBytes }) => walBytes),
    sum(({ lost }) => lost),
    sum(({ duplicates }) => duplicates),
  ];
}
