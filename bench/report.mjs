import { median } from './measure.mjs';

/** @typedef {import('./window.mjs').Figures} Figures */
/** @typedef {Map<string, Figures>} Rows medians by row */

const GROUPS = {
  service: 'service',
  api: 'service',
  worker: 'service',
  smtp: 'service',
  postgres: 'pg',
  load: 'load',
  receiver: 'recv',
};

/**
 * Returns the median of each figure over the rounds, and the sums of lost and duplicate messages.
 *
 * @param {Figures[]} rounds @returns {Figures}
 */
export function summaryOf(rounds) {
  const sum = (/** @type {(figures: Figures) => number} */ figure) =>
    rounds.reduce((total, figures) => total + figure(figures), 0);
  return { ...medianOf(rounds), lost: sum(({ lost }) => lost), duplicates: sum(({ duplicates }) => duplicates) };
}

/** Returns the median of each figure over the rounds. @param {any[]} rounds @returns {any} */
function medianOf(rounds) {
  const [first] = rounds;
  if (typeof first === 'number') return median(rounds.map((value) => value ?? 0));
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  const figures = [...names].filter((name) => name !== 'parts' && name !== 'probes');
  return Object.fromEntries(figures.map((name) => [name, medianOf(rounds.map((round) => round[name] ?? 0))]));
}

/** Maximum share of the machine that other programs may use. Above this share, a measured rate is unreliable. */
const OTHERS_MAX = 0.1;

/**
 * Returns the rate that the row would have on a machine without other programs.
 *
 * @param {Rows} rows @param {string} name
 */
function rate(rows, name) {
  const figures = rows.get(name);
  return figures === undefined ? Number.NaN : fairRate(figures);
}

/**
 * Returns the rate, corrected for CPU time that other programs, the machine's host or paused programs used.
 *
 * @param {Figures} figures
 */
export const fairRate = ({ deliveriesPerSecond, others, steal, waiting }) =>
  deliveriesPerSecond / (1 - others - steal - waiting);

/** @param {Pick<Figures, 'others' | 'steal'> | undefined} figures */
export const isDisturbedBy = (figures) => figures !== undefined && figures.others + figures.steal > OTHERS_MAX;

/** @param {Rows} rows @param {Map<string, Figures[]>} rounds the single rounds of each row @returns {string} */
export function table(rows, rounds) {
  const header = [
    'row',
    'deliv/s',
    'min-max',
    'scaled',
    'x limit',
    'accept p50',
    'p99',
    'max',
    'receipt p50',
    'p99',
    'us service',
    'pg',
    'load',
    'recv',
    'x recv',
    'idle',
    'others',
    'steal',
    'fsync ms',
    'max',
    'commits',
    'WAL B',
    'waits',
    'max',
    'lost',
    'dup',
    'refused',
  ];
  const lines = [
    header,
    ...[...rows].map(([name, figures]) => cells(name, figures, rounds.get(name) ?? [], rate(rows, limitOf(name)))),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (/** @type {string} */ cell, /** @type {number} */ i) =>
    i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  const aligned = lines.map((line) => line.map(pad).join('  '));
  const isDisturbed = [...rows.values()].some((figures) => isDisturbedBy(figures));
  if (isDisturbed)
    aligned.push('* other programs or the host took more than a tenth of the machine: measure this row again');
  return aligned.join('\n');
}

/** Returns the row that measures the upper limit for row `name`. Mail has its own limits. @param {string} name */
function limitOf(name) {
  const mail = ['smtp-in', 'emails-out'].find((row) => name.startsWith(row));
  return mail === undefined ? 'limit' : `${mail}-limit`;
}

/** @param {string} name @param {Figures} figures @param {Figures[]} rounds @param {number} limit @returns {string[]} */
function cells(name, figures, rounds, limit) {
  const { accept, receipt, refusals } = figures;
  const scaled = fairRate(figures);
  const rates = rounds.map(({ deliveriesPerSecond }) => deliveriesPerSecond);
  const isPaced =
    name.endsWith('-half') ||
    name.startsWith('service-quiet') ||
    name.startsWith('tail') ||
    ['idle', 'memory'].includes(name);
  return [
    name,
    figures.deliveriesPerSecond.toFixed(0) + (isDisturbedBy(figures) ? '*' : ' '),
    rates.length < 2 ? '-' : `${Math.min(...rates).toFixed(0)}-${Math.max(...rates).toFixed(0)}`,
    isPaced ? '-' : scaled.toFixed(0),
    isPaced || Number.isNaN(limit) ? '-' : (scaled / limit).toFixed(2),
    ...[accept.p50, accept.p99, accept.max, receipt.p50, receipt.p99].map((ms) => ms.toFixed(1)),
    ...['service', 'pg', 'load', 'recv'].map((column) => micros(figures.cpuMicros, column)),
    timesReceiver(figures.cpuMicros),
    ...[figures.idle, figures.others, figures.steal].map((share) => `${(share * 100).toFixed(0)}%`),
    ...[figures.fsyncMs?.median, figures.fsyncMs?.max].map((ms) => ms?.toFixed(1) ?? '-'),
    figures.commits.toFixed(3),
    figures.walBytes.toFixed(0),
    ...[figures.backlog?.end, figures.backlog?.max].map((count) => count?.toFixed(0) ?? '-'),
    String(figures.lost),
    String(figures.duplicates),
    Object.entries(refusals)
      .map(([status, count]) => `${status}:${count}`)
      .join(' ') || '0',
  ];
}

/**
 * Returns the CPU time of the program and of PostgreSQL as a multiple of the receiver's CPU time. Such multiples are
 * comparable between machines.
 *
 * @param {Record<string, number>} cpuMicros
 */
function timesReceiver({ receiver = 0, load: _load, waiting: _waiting, ...own }) {
  return receiver === 0 ? '-' : (Object.values(own).reduce((sum, micro) => sum + micro, 0) / receiver).toFixed(1);
}

/** @param {Record<string, number>} cpuMicros @param {string} column */
function micros(cpuMicros, column) {
  const groups = Object.entries(cpuMicros).filter(
    ([group]) => GROUPS[/** @type {keyof typeof GROUPS} */ (group)] === column,
  );
  return groups.map(([, value]) => value.toFixed(0)).join('+') || '-';
}
