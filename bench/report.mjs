import { median } from './measure.mjs';
import { PER_SECOND } from './memory.mjs';

/** @typedef {import('./window.mjs').Figures} Figures */
/** @typedef {Map<string, Figures>} Rows medians by row */
/**
 * A promise and what was measured; `null` when this run did not. `isDisturbed`: a row it is taken from was.
 *
 * @typedef {{ promise: string, value: number | null, bound: string, isKept: boolean | null, isDisturbed: boolean }} Promised
 */

const GROUPS = { service: 'service', api: 'service', worker: 'service', smtp: 'service', postgres: 'pg', load: 'load', receiver: 'recv' };

/** The median of each figure over the rounds, and all that was lost or came twice in any of them. @param {Figures[]} rounds @returns {Figures} */
export function summaryOf(rounds) {
  const sum = (/** @type {(figures: Figures) => number} */ figure) => rounds.reduce((total, figures) => total + figure(figures), 0);
  return { ...medianOf(rounds), lost: sum(({ lost }) => lost), duplicates: sum(({ duplicates }) => duplicates) };
}

/** The median of each figure over the rounds. @param {any[]} rounds @returns {any} */
function medianOf(rounds) {
  const [first] = rounds;
  if (typeof first === 'number') return median(rounds.map((value) => value ?? 0));
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  return Object.fromEntries([...names].map((name) => [name, medianOf(rounds.map((round) => round[name] ?? 0))]));
}

/** What an accept takes in one of a hundred, at half load, nine windows of ten stay below. */
const TAIL_MS = 40;
/** Above this share of the machine in other hands a rate says little. */
const OTHERS_MAX = 0.1;

/**
 * The rate, scaled to a machine that nobody else uses, so that two rows compare although one of them was disturbed.
 *
 * @param {Rows} rows @param {string} name
 */
function rate(rows, name) {
  const figures = rows.get(name);
  return figures === undefined ? Number.NaN : fairRate(figures);
}

/** The rate, with what was taken by strangers, by the machine's host, and by subjects that waited. @param {Figures} figures */
export const fairRate = ({ deliveriesPerSecond, others, steal, waiting }) => deliveriesPerSecond / (1 - others - steal - waiting);

/**
 * What was promised, against what was measured.
 *
 * @param {Rows} rows @param {readonly import('./paired-report.mjs').Comparison[]} comparisons of rows that took turns
 * @param {Map<string, Figures[]>} rounds what each row is the median of
 * @returns {Promised[]}
 */
export function promises(rows, comparisons, rounds) {
  const paired = comparisons.find(({ name, reference }) => name === 'service' && reference === 'limit');
  const withKeys = comparisons.find(({ name, reference }) => name === 'service-idempotency' && reference === 'limit');
  const pairedRate = (/** @type {string} */ alone) => comparisons.find(({ reference }) => reference === alone)?.rate.ratio;
  const half = rows.get('service-half');
  const quiet = rows.get('service-quiet');
  const ofService = [...rows.keys()].filter((name) => !name.startsWith('limit') && !name.endsWith('-limit'));
  const lost = ofService.reduce((sum, name) => sum + (rows.get(name)?.lost ?? 0), 0);
  const judge = judgeBy(rows);
  const { memory, deliveriesPerSecond = 0 } = rows.get('memory') ?? {};
  // Who falls behind works less than is asked of him.
  const isAtRate = memory !== undefined && deliveriesPerSecond >= 0.98 * PER_SECOND;
  return [
    judge('service / limit', paired?.rate.ratio, '>= 0.6', ['service', 'limit']),
    judge('service-idempotency / limit', withKeys?.rate.ratio, '>= 0.7', ['service-idempotency', 'limit']),
    judge('CPU per delivery as fast as it goes, us', cpuOf(rows, 'service'), '<= 150', ['service']),
    judge('receive / service', rate(rows, 'receive') / rate(rows, 'service'), '>= 0.7', ['receive', 'service']),
    judge('replay / service', rate(rows, 'replay') / rate(rows, 'service'), '>= 0.5', ['service']),
    judge('replay-beside / alone', rate(rows, 'replay-beside') / rate(rows, 'replay-beside:alone'), '>= 0.8', ['replay-beside', 'replay-beside:alone']),
    judge('accepting for 100 / accepting a send, CPU', cpuRatio(rows, ['fanout-accept', 'fanout-accept:one'], 1), '< 40', ['fanout-accept', 'fanout-accept:one']),
    judge('the same with the deliveries, CPU', cpuRatio(rows, ['fanout', 'service'], 100), '< 40', ['fanout', 'service']),
    judge('fan-out to 2,000 applications / to 10', rate(rows, 'fanout-many') / rate(rows, 'fanout-many:few'), '>= 0.9', ['fanout-many', 'fanout-many:few']),
    judge('99 of 100 beside a hanging one / alone', rate(rows, 'fanout-hanging') / rate(rows, 'fanout-hanging:alone'), '>= 0.9', ['fanout-hanging', 'fanout-hanging:alone']),
    judge('their 202 to receipt p99 at half load, ms', rows.get('fanout-hanging-half')?.receipt.p99, '< 60', ['fanout-hanging-half']),
    judge('fan-out to 10 as fast as it is accepted, deliveries per second', rate(rows, 'fanout-open'), '>= 10000', ['fanout-open']),
    ...['fanout-open', 'send-open'].flatMap((name) => [
      judge(`${name}, 202 to receipt p99, ms`, rows.get(name)?.receipt.p99, '< 1000', [name]),
      judge(`${name}, most that waited, in seconds of deliveries`, backlogSeconds(rows.get(name)), '< 2', [name]),
    ]),
    judge('commits per delivery', rows.get('service')?.commits, '<= 0.1', ['service']),
    judge('accept p99 at half load, ms, median of the windows', rows.get('tail')?.accept.p99, '< 20', ['tail']),
    judge(`windows with an accept p99 under ${TAIL_MS} ms`, shareOf(rounds.get('tail') ?? [], ({ accept }) => accept.p99 < TAIL_MS), '>= 0.9', ['tail']),
    judge('202 to receipt p99 at half load, ms', half?.receipt.p99, '< 60', ['service-half']),
    judge('CPU per delivery at 400/s, us', cpuOf(rows, 'service-quiet'), '<= 600', ['service-quiet']),
    judge('commits per delivery at 400/s', quiet?.commits, '<= 0.4', ['service-quiet']),
    judge('accept p99 at 400/s, ms', quiet?.accept.p99, '< 10', ['service-quiet']),
    judge('202 to receipt p99 at 400/s, ms', quiet?.receipt.p99, '< 12', ['service-quiet']),
    judge('idle, CPU a second, us', cpuOf(rows, 'idle'), '< 10000', ['idle']),
    judge('idle, commits a second', rows.get('idle')?.commits, '< 5', ['idle']),
    ...['beside-failing', 'beside-refused', 'beside-hanging', 'beside-limited', 'beside-flapping', 'beside-hanging-tenant', 'beside-slow-names', 'beside-slow-code', 'beside-mail'].map((name) =>
      judge(`${name} / alone`, pairedRate(`${name}:alone`) ?? rate(rows, name) / rate(rows, `${name}:alone`), '>= 0.9', [name, `${name}:alone`])),
    ...['beside-flapping', 'beside-hanging-tenant', 'beside-slow-names', 'beside-slow-code', 'beside-mail'].map((name) =>
      judge(`${name}, 202 to receipt p99 at half load, ms`, rows.get(`${name}-half`)?.receipt.p99, '< 60', [`${name}-half`])),
    ...['listMs', 'listDlqMs', 'listTypeMs', 'claimMs'].map((probe) =>
      judge(`${probe} full / empty`, ratioOf(rows, probe), '<= 1.2', ['scale', 'scale:empty'])),
    judge('accepts full / empty', rate(rows, 'scale') / rate(rows, 'scale:empty'), '>= 0.8', ['scale', 'scale:empty']),
    judge('smtp-in, messages of 4 KB per second', rate(rows, 'smtp-in'), '>= 1500', ['smtp-in']),
    judge('smtp-in / smtp-in-limit', rate(rows, 'smtp-in') / rate(rows, 'smtp-in-limit'), '>= 0.6', ['smtp-in', 'smtp-in-limit']),
    judge('memory with PostgreSQL, idle, MiB', memory?.idle.total, '<= 200', []),
    judge(`the same at ${PER_SECOND}/s, MiB`, isAtRate ? memory.atWork.total : undefined, '<= 300', ['memory']),
    judge('accepted and lost', ofService.length > 0 ? lost : undefined, '<= 0', []),
  ];
}

/** @param {Figures | undefined} figures */
const backlogSeconds = (figures) => figures?.backlog && figures.backlog.max / figures.deliveriesPerSecond;

/**
 * CPU of service and PostgreSQL for a message to a hundred endpoints, against that for a send.
 *
 * @param {Rows} rows @param {[many: string, one: string]} names @param {number} copies that the figures of `many` are each for
 */
function cpuRatio(rows, names, copies) {
  const [many, one] = names.map((name) => cpuOf(rows, name));
  return many === undefined || one === undefined ? undefined : (many * copies) / one;
}

/** CPU of service and PostgreSQL, in microseconds. @param {Rows} rows @param {string} name */
function cpuOf(rows, name) {
  const figures = rows.get(name);
  return figures && (figures.cpuMicros.service ?? 0) + (figures.cpuMicros.postgres ?? 0);
}

/** What a probe takes with a million stored events, against the empty database. @param {Rows} rows @param {string} probe */
function ratioOf(rows, probe) {
  const [full, empty] = ['scale', 'scale:empty'].map((name) => /** @type {any} */ (rows.get(name))?.probes[probe]);
  return full === undefined ? undefined : full / empty;
}

/** @param {readonly Figures[]} windows @param {(figures: Figures) => boolean} isGood */
const shareOf = (windows, isGood) => (windows.length === 0 ? undefined : windows.filter(isGood).length / windows.length);

/** @param {Rows} rows */
function judgeBy(rows) {
  /** @type {(promise: string, value: number | undefined, bound: string, from: string[]) => Promised} */
  return (promise, value, bound, from) => {
    const isDisturbed = from.some((name) => isDisturbedBy(rows.get(name)));
    if (value === undefined || Number.isNaN(value)) return { promise, value: null, bound, isKept: null, isDisturbed };
    const [relation = '', number = ''] = bound.split(' ');
    const against = Number(number);
    const isKept = relation === '>=' ? value >= against : relation === '<=' ? value <= against : value < against;
    return { promise, value, bound, isKept, isDisturbed };
  };
}

/** @param {Figures | undefined} figures */
const isDisturbedBy = (figures) => figures !== undefined && figures.others + figures.steal > OTHERS_MAX;

/** @param {Rows} rows @param {Map<string, Figures[]>} rounds what each is the median of @returns {string} */
export function table(rows, rounds) {
  const header = [
    'row', 'deliv/s', 'min-max', 'scaled', 'x limit', 'accept p50', 'p99', 'max', 'receipt p50', 'p99', 'us service', 'pg', 'load', 'recv',
    'idle', 'others', 'steal', 'fsync ms', 'max', 'commits', 'WAL B', 'waits', 'max', 'lost', 'dup', 'refused',
  ];
  const lines = [header, ...[...rows].map(([name, figures]) => cells(name, figures, rounds.get(name) ?? [], rate(rows, limitOf(name))))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (/** @type {string} */ cell, /** @type {number} */ i) =>
    i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  const aligned = lines.map((line) => line.map(pad).join('  '));
  const isDisturbed = [...rows.values()].some((figures) => isDisturbedBy(figures));
  if (isDisturbed) aligned.push('* other programs or the host took more than a tenth of the machine: measure this row again');
  return aligned.join('\n');
}

/** Mail has limits of its own. @param {string} name */
function limitOf(name) {
  const mail = ['smtp-in', 'emails-out'].find((row) => name.startsWith(row));
  return mail === undefined ? 'limit' : `${mail}-limit`;
}

/** @param {string} name @param {Figures} figures @param {Figures[]} rounds @param {number} limit @returns {string[]} */
function cells(name, figures, rounds, limit) {
  const { accept, receipt, refusals } = figures;
  const scaled = fairRate(figures);
  const rates = rounds.map(({ deliveriesPerSecond }) => deliveriesPerSecond);
  const isPaced = name.endsWith('-half') || name.startsWith('service-quiet') || ['idle', 'memory', 'tail'].includes(name);
  return [
    name,
    figures.deliveriesPerSecond.toFixed(0) + (isDisturbedBy(figures) ? '*' : ' '),
    rates.length < 2 ? '-' : `${Math.min(...rates).toFixed(0)}-${Math.max(...rates).toFixed(0)}`,
    isPaced ? '-' : scaled.toFixed(0),
    isPaced || Number.isNaN(limit) ? '-' : (scaled / limit).toFixed(2),
    ...[accept.p50, accept.p99, accept.max, receipt.p50, receipt.p99].map((ms) => ms.toFixed(1)),
    ...['service', 'pg', 'load', 'recv'].map((column) => micros(figures.cpuMicros, column)),
    ...[figures.idle, figures.others, figures.steal].map((share) => `${(share * 100).toFixed(0)}%`),
    ...[figures.fsyncMs?.median, figures.fsyncMs?.max].map((ms) => ms?.toFixed(1) ?? '-'),
    figures.commits.toFixed(3),
    figures.walBytes.toFixed(0),
    ...[figures.backlog?.end, figures.backlog?.max].map((count) => count?.toFixed(0) ?? '-'),
    String(figures.lost),
    String(figures.duplicates),
    Object.entries(refusals).map(([status, count]) => `${status}:${count}`).join(' ') || '0',
  ];
}

/** @param {Record<string, number>} cpuMicros @param {string} column */
function micros(cpuMicros, column) {
  const groups = Object.entries(cpuMicros).filter(([group]) => GROUPS[/** @type {keyof typeof GROUPS} */ (group)] === column);
  return groups.map(([, value]) => value.toFixed(0)).join('+') || '-';
}

/** One line for each promise. @param {Promised[]} promised */
export function verdicts(promised) {
  const width = Math.max(...promised.map(({ promise }) => promise.length));
  return promised
    .map(({ promise, value, bound, isKept, isDisturbed }) => {
      if (value === null) return `-      ${promise.padEnd(width)}  not measured (${bound})`;
      const verdict = `${isKept ? 'pass' : 'FAIL'}${isDisturbed ? '*' : ' '}`;
      return `${verdict}  ${promise.padEnd(width)}  ${Number(value.toPrecision(3))} (${bound})`;
    })
    .join('\n');
}
