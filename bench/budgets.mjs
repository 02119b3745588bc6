/**
 * The performance budgets that the bench checks. Most are ratios of two figures of one run, so that the speed of the
 * machine cancels out. Counts are compared directly.
 */
import { pairsOf } from './alternation.mjs';
import { costOf } from './paired-report.mjs';
import { fairRate, isDisturbedBy } from './report.mjs';
import { ratioOf } from './statistics.mjs';

/** @typedef {import('./window.mjs').Figures} Figures */
/** @typedef {import('./budgets.mjs').Measured} Measured */
/** @typedef {import('./budgets.mjs').Budget} Budget */
/** @typedef {import('./budgets.mjs').Judged} Judged */
/** @typedef {(figures: any) => number} Figure */

/** Lower limit for measured latencies, because a ratio needs numbers above 0. */
const LATENCY_MIN_MS = 0.01;
/**
 * Minimum rate of the row `memory`, as a share of the requested rate. At a lower rate, its figures are not comparable.
 */
const RATE_KEPT = 0.98;

/** @type {Figure} */
const acceptP99 = ({ accept }) => Math.max(accept.p99, LATENCY_MIN_MS);
/** @type {Figure} */
const acceptMedian = ({ accept }) => Math.max(accept.p50, LATENCY_MIN_MS);
/** @type {Figure} */
const receiptP99 = ({ receipt }) => Math.max(receipt.p99, LATENCY_MIN_MS);
/** @type {Figure} */
const receiverCost = ({ cpuMicros }) => cpuMicros.receiver ?? 0;
/** @type {Figure} */
const commits = (figures) => figures.commits;
/** @type {Figure} */
const one = () => 1;

/**
 * Returns a budget for the ratio of one figure in two rows.
 *
 * @param {string} name
 * @param {[row: string, reference: string]} rows
 * @param {Figure} figure
 * @param {string} bound
 * @returns {Budget}
 */
const between = (name, rows, figure, bound) => ({
  name,
  rows,
  bound,
  pairs: (measured) => samplePairs(measured, ...rows).map(([of, against]) => [figure(of), figure(against)]),
});

/**
 * Returns a budget for the ratio of two figures in one row.
 *
 * @param {string} name
 * @param {string} row
 * @param {[figure: Figure, against: Figure]} figures
 * @param {string} bound
 * @returns {Budget}
 */
const within = (name, row, [figure, against], bound) => ({
  name,
  rows: [row],
  bound,
  pairs: (measured) => samplesOf(measured, row).map((sample) => [figure(sample), against(sample)]),
});

/**
 * Returns a budget for a count.
 *
 * @param {string} name
 * @param {string[]} rows
 * @param {(measured: Measured) => number | undefined} value
 * @param {string} bound
 * @returns {Budget}
 */
const count = (name, rows, value, bound) => ({ name, rows, bound, value });

const BESIDE_ONCE = ['beside-failing', 'beside-refused', 'beside-hanging', 'beside-limited'];
const BESIDE_ALTERNATING = [
  'beside-flapping',
  'beside-hanging-tenant',
  'beside-slow-names',
  'beside-slow-code',
  'beside-mail',
];
const PACED = [
  'service-half',
  'service-quiet',
  'fanout-hanging-half',
  ...BESIDE_ALTERNATING.map((row) => `${row}-half`),
];
const OPEN = /** @type {const} */ ([
  ['fanout-open', 10],
  ['send-open', 1],
]);
const PROBES = ['listMs', 'listDlqMs', 'listTypeMs', 'claimMs'];

/**
 * The bounds come from measurements since 21 November 2026 (docs/benchmarks.md), with a margin for other machines.
 *
 * @type {readonly Budget[]}
 */
export const BUDGETS = [
  between('service / limit, rate', ['service', 'limit'], fairRate, '>= 0.6'),
  between('service / limit, CPU of a delivery', ['service', 'limit'], costOf, '<= 2.1'),
  within('commits of a delivery', 'service', [commits, one], '<= 0.1'),
  between('service with idempotency keys / limit, rate', ['service-idempotency', 'limit'], fairRate, '>= 0.5'),
  between('receive / service, rate', ['receive', 'service'], fairRate, '>= 0.7'),
  between('replay / service, rate', ['replay', 'service'], fairRate, '>= 0.5'),
  between('sends beside a replay / alone, rate', ['replay-beside', 'replay-beside:alone'], fairRate, '>= 0.8'),
  between('accepting for 100 / accepting a send, CPU', ['fanout-accept', 'fanout-accept:one'], costOf, '<= 40'),
  between('a delivery of a fan-out to 100 / of a send, CPU', ['fanout', 'service'], costOf, '<= 0.8'),
  between('fan-out to 2,000 applications / to 10, rate', ['fanout-many', 'fanout-many:few'], fairRate, '>= 0.9'),
  between(
    '99 of 100 beside a hanging one / alone, rate',
    ['fanout-hanging', 'fanout-hanging:alone'],
    fairRate,
    '>= 0.9',
  ),
  between(
    'fan-out to 10 / sends, as fast as they are accepted, rate',
    ['fanout-open', 'send-open'],
    fairRate,
    '>= 1.2',
  ),
  ...OPEN.map(([row, copies]) =>
    count(
      `${row}: most that waited / what its connections send at once`,
      [row],
      ({ rows, connections }) => {
        const most = rows.get(row)?.backlog?.max;
        return most === undefined ? undefined : most / (connections * copies);
      },
      '<= 3',
    ),
  ),
  ...OPEN.map(([row]) => within(`${row}: 202 to receipt p99 / accept p99`, row, [receiptP99, acceptP99], '<= 1')),
  between("accept p99 at half load / the limit's", ['tail', 'tail:limit'], acceptP99, '<= 3'),
  ...PACED.map((row) => within(`${row}: 202 to receipt p99 / accept p99`, row, [receiptP99, acceptP99], '<= 1')),
  within("CPU of a delivery at 400/s / the receiver's", 'service-quiet', [costOf, receiverCost], '<= 12'),
  within('accept p99 at 400/s / its median', 'service-quiet', [acceptP99, acceptMedian], '<= 3'),
  count(
    'commits of a delivery at 400/s',
    ['service-quiet'],
    ({ rows }) => rows.get('service-quiet')?.commits,
    '<= 0.4',
  ),
  between('an idle second / a delivery at 400/s, CPU', ['idle', 'service-quiet'], costOf, '<= 25'),
  count('commits of an idle second', ['idle'], ({ rows }) => rows.get('idle')?.commits, '<= 5'),
  ...[...BESIDE_ONCE, ...BESIDE_ALTERNATING].map((row) =>
    between(`${row} / alone, rate`, [row, `${row}:alone`], fairRate, '>= 0.9'),
  ),
  ...PROBES.map((probe) => ({
    name: `${probe} with a million events / with few`,
    rows: ['scale', 'scale:empty'],
    bound: '<= 1.2',
    pairs: (/** @type {Measured} */ measured) => zipped(...probesOf(measured, probe)),
  })),
  between('accepts with a million events / with few, rate', ['scale', 'scale:empty'], fairRate, '>= 0.8'),
  between('mail in / its limit, rate', ['smtp-in', 'smtp-in-limit'], fairRate, '>= 0.5'),
  between('submission / mail in, rate', ['submission', 'smtp-in'], fairRate, '>= 0.8'),
  count(
    'memory with PostgreSQL at rest, MiB',
    ['memory'],
    ({ rows }) => rows.get('memory')?.memory?.idle.total,
    '<= 200',
  ),
  count(
    'memory with PostgreSQL at 5,000/s, MiB',
    ['memory'],
    ({ rows, memoryPerSecond }) => {
      const { memory, deliveriesPerSecond = 0 } = rows.get('memory') ?? {};
      return deliveriesPerSecond >= RATE_KEPT * memoryPerSecond ? memory?.atWork.total : undefined;
    },
    '<= 300',
  ),
  count('accepted and lost', [], ({ rows }) => lostOf(rows), '<= 0'),
];

/** Compares every budget with the measurements. @param {Measured} measured @returns {Judged[]} */
export const judgeAll = (measured) => BUDGETS.map((budget) => judge(budget, measured));

/**
 * Checks one budget. The budget is kept if the whole 95 % interval of the ratio satisfies the bound, and missed if the
 * whole interval violates the bound. Otherwise the run is inconclusive.
 *
 * @param {Budget} budget @param {Measured} measured @returns {Judged}
 */
export function judge({ name, rows, bound, pairs, value }, measured) {
  const {
    ratio,
    low,
    high,
    pairs: samples,
  } = pairs === undefined ? exactly(value?.(measured)) : ratioOf(pairs(measured));
  const isDisturbed = rows.some((row) => isDisturbedBy(measured.rows.get(row)));
  const base = { name, bound, ratio, low, high, samples, isDisturbed };
  if (samples === 0) return { ...base, verdict: 'not measured' };
  const [relation = '', number = ''] = bound.split(' ');
  const isMet = (/** @type {number} */ figure) =>
    relation === '>=' ? figure >= Number(number) : figure <= Number(number);
  const [isLowMet, isHighMet] = [isMet(low), isMet(high)];
  return { ...base, verdict: isLowMet !== isHighMet ? 'not shown' : isLowMet ? 'kept' : 'FAIL' };
}

/** @param {number | undefined} figure */
const exactly = (figure) => ({
  ratio: figure ?? Number.NaN,
  low: figure ?? Number.NaN,
  high: figure ?? Number.NaN,
  pairs: figure === undefined ? 0 : 1,
});

/**
 * Returns the row's slices if the row was measured alternately, or else the parts of its measured windows.
 *
 * @param {Measured} measured
 * @param {string} row
 * @returns {any[]}
 */
function samplesOf({ slices, rounds }, row) {
  const own = slices.filter(({ name }) => name === row);
  return own.length > 0
    ? own.map(({ figures }) => figures)
    : (rounds.get(row) ?? []).flatMap((figures) => figures.parts ?? [figures]);
}

/**
 * Returns pairs of figures of two rows: of the same round if the rows were measured alternately, otherwise by position.
 *
 * @param {Measured} measured
 * @param {string} row
 * @param {string} reference
 * @returns {[any, any][]}
 */
function samplePairs(measured, row, reference) {
  const turns = pairsOf(measured.slices, row, reference);
  if (turns.length > 0) return turns.map(([{ figures }, { figures: against }]) => [figures, against]);
  return zipped(samplesOf(measured, row), samplesOf(measured, reference));
}

/** @param {Measured} measured @param {string} probe @returns {[number[], number[]]} */
function probesOf({ rounds }, probe) {
  const of = (/** @type {string} */ row) =>
    (rounds.get(row) ?? []).flatMap((figures) => /** @type {any} */ (figures).probes?.[probe] ?? []);
  return [of('scale'), of('scale:empty')];
}

/** @template T @param {readonly T[]} first @param {readonly T[]} second @returns {[T, T][]} */
const zipped = (first, second) => first.slice(0, second.length).map((each, i) => [each, /** @type {T} */ (second[i])]);

/** @param {Map<string, Figures>} rows @returns {number | undefined} */
function lostOf(rows) {
  const own = [...rows].filter(([name]) => !name.startsWith('limit') && !name.endsWith('limit'));
  return own.length === 0 ? undefined : own.reduce((sum, [, { lost }]) => sum + lost, 0);
}

/**
 * Returns one line per measured budget, and one line for all unmeasured budgets. @param {readonly Judged[]} judged
 */
export function budgetLines(judged) {
  const measured = judged.filter(({ verdict }) => verdict !== 'not measured');
  const width = Math.max(0, ...measured.map(({ name }) => name.length));
  const lines = measured.map(({ name, bound, ratio, low, high, samples, isDisturbed, verdict }) => {
    const interval =
      samples === 1
        ? ''
        : Number.isFinite(high)
          ? ` (${figureOf(low)} to ${figureOf(high)})`
          : ` (no interval: ${samples} samples, and 6 make one)`;
    return `${`${verdict}${isDisturbed ? '*' : ''}`.padEnd(10)}  ${name.padEnd(width)}  ${figureOf(ratio)}${interval}, budget ${bound}`;
  });
  return [
    ...lines,
    ...(measured.length < judged.length
      ? [`${judged.length - measured.length} budgets of other rows were not measured.`]
      : []),
  ].join('\n');
}

/** @param {number} figure */
const figureOf = (figure) => String(Number(figure.toPrecision(3)));
