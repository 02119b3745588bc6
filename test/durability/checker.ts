/**
 * The durability checker. Its evidence is the answers to senders, the requests at receivers, and the times of kills. It
 * does not read the service's tables or log.
 */

/** A message that a test sends, with the answers of the API. */
export interface Sent {
  /** The Idempotency-Key of every attempt to send the message. */
  key: string;
  /** SHA-256 of the payload text. */
  bodyHash: string;
  /** The distinct message ids in the 202 answers to this key. More than one id violates idempotency. */
  ids: string[];
  /** Time of the first 202, in milliseconds since the epoch, or null before it. */
  acceptedAtMs: number | null;
}

/** A request that the receiver got, complete with its body. */
export interface Arrival {
  /** The `webhook-id` header. */
  id: string;
  bodyHash: string;
  /** Whether the signature over id, timestamp and body verifies with the destination's secret. */
  isSigned: boolean;
  /** The status that the receiver returned, or 0 if it broke the connection on purpose. */
  status: number;
  receivedAtMs: number;
  /** Time when the answer was written, or null if the connection was closed before the answer. */
  answeredAtMs: number | null;
}

/** A fault that the test injected. */
export interface Disruption {
  kind: string;
  atMs: number;
  /** True if the fault killed a process that may have been delivering. */
  cutsAttempts: boolean;
  /** End of the period in which attempts could be interrupted. Omitted if the fault was instantaneous. */
  cutUntilMs?: number;
}

/** A time during which PostgreSQL did not answer. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** A time during which each round trip to PostgreSQL took `roundTripMs` longer. */
export interface Slowness extends Outage {
  roundTripMs: number;
}

/** The checker's input. */
export interface Evidence {
  sent: readonly Sent[];
  arrivals: readonly Arrival[];
  disruptions: readonly Disruption[];
  outages: readonly Outage[];
  /** Times during which PostgreSQL was slow. Empty if omitted. */
  slownesses?: readonly Slowness[];
  /** Factor by which work took longer than on a quiet machine (`Pace`). Default 1. */
  pace?: number;
}

/** The checker's result. The lists hold message ids unless noted, and are empty if every guarantee is met. */
export interface Report {
  accepted: number;
  /** Messages that were answered with 202 and never delivered. */
  lost: string[];
  /** Ids of delivered messages that no answer contained. */
  unexpected: string[];
  /** Messages delivered with a body different from the sent body. */
  altered: string[];
  /** Messages delivered with a signature that does not verify. */
  unsigned: string[];
  /** Idempotency keys that got two message ids. */
  forkedKeys: string[];
  /** Idempotency keys that never got a 202. */
  unansweredKeys: string[];
  /** Number of repeated deliveries of messages that the receiver had already answered with 2xx. */
  duplicates: number;
  /** Maximum for `duplicates`: the number of deliveries that were in flight or not yet recorded at a kill. */
  duplicatesMax: number;
  /** Messages delivered again although no process was killed while the first delivery was in flight. */
  unexplained: string[];
  /** The times of the unexplained deliveries, one line each, for debugging. */
  unexplainedTimes: string[];
  /** The longest time from a kill to the arrival of the last message that had been accepted before the kill. */
  slowestRecoveryMs: number;
  disruptions: Record<string, number>;
}

/**
 * Time limit on a quiet machine for storing the result of an answered attempt. This limit and the limits below are
 * multiplied by `pace`.
 */
const RECORD_MS_MAX = 500;
/** Maximum time after a kill until a request sent before the kill reaches the receiver. */
const IN_TRANSIT_MS_MAX = 1_000;
/** Maximum time after an outage of PostgreSQL until the service tries again to store results. */
const RECORD_BACKOFF_MS_MAX = 3_000;
/**
 * Number of round trips until a result is stored: three for the group commit in progress, and three for the result's
 * own group commit (begin, write and commit).
 */
const RECORD_ROUND_TRIPS_MAX = 6;

/** Compares the accepted messages with the messages that arrived, and returns the report. */
export function check(evidence: Evidence): Report {
  const { sent, arrivals, disruptions } = evidence;
  const sentById = new Map(sent.flatMap((message) => message.ids.map((id) => [id, message] as const)));
  const arrivalsById = grouped(arrivals);
  const copies = [...arrivalsById].flatMap(([id, ofMessage]) => copiesOf(id, ofMessage));
  const cuts = disruptions.filter(({ cutsAttempts }) => cutsAttempts).map((cut) => vulnerable(cut, evidence));
  const unexplained = copies.filter(
    ({ before, at }) => !cuts.some((cut) => cut.atMs <= at && wasUnderWay(before, cut)),
  );
  const isDelivered = (id: string): boolean =>
    (arrivalsById.get(id) ?? []).some((arrival) => isGood(arrival, sentById.get(id)));
  return {
    accepted: sentById.size,
    lost: [...sentById.keys()].filter((id) => !isDelivered(id)),
    unexpected: [...arrivalsById.keys()].filter((id) => !sentById.has(id)),
    altered: idsOf(arrivals.filter(({ id, bodyHash }) => (sentById.get(id)?.bodyHash ?? bodyHash) !== bodyHash)),
    unsigned: idsOf(arrivals.filter(({ isSigned }) => !isSigned)),
    forkedKeys: sent.filter(({ ids }) => ids.length > 1).map(({ key }) => key),
    unansweredKeys: sent.filter(({ ids }) => ids.length === 0).map(({ key }) => key),
    duplicates: copies.length,
    duplicatesMax: cuts.reduce((sum, cut) => sum + arrivals.filter((arrival) => wasUnderWay(arrival, cut)).length, 0),
    unexplained: unexplained.map(({ id }) => id),
    unexplainedTimes: unexplained.map(
      ({ id, before, at }) =>
        `${id}: received ${before.receivedAtMs}, answered ${before.answeredAtMs}, again ${at}, ${lastCutText(cuts, at)}`,
    ),
    slowestRecoveryMs: Math.max(0, ...disruptions.map(({ atMs }) => recoveryMs(atMs, sentById, arrivalsById))),
    disruptions: Object.fromEntries(
      disruptions.map(({ kind }) => [kind, disruptions.filter((other) => other.kind === kind).length]),
    ),
  };
}

/** Returns one sentence for each guarantee that the report shows as broken. */
export function broken(report: Report): string[] {
  const claims: [string, number][] = [
    ['messages were answered 202 and never delivered', report.lost.length],
    ['deliveries came under an id that no answer gave', report.unexpected.length],
    ['messages were delivered with another body', report.altered.length],
    ['messages were delivered with a bad signature', report.unsigned.length],
    ['idempotency keys made two messages', report.forkedKeys.length],
    ['idempotency keys were never answered', report.unansweredKeys.length],
    ['deliveries were repeated though nothing was killed during the first', report.unexplained.length],
    ['duplicates are more than were in flight', Math.max(0, report.duplicates - report.duplicatesMax)],
  ];
  return claims.filter(([, count]) => count > 0).map(([claim, count]) => `${count} ${claim}`);
}

/** Returns the one-line summary of a run. */
export function summary(seed: number, report: Report): string {
  const done = Object.entries(report.disruptions).map(([kind, count]) => `${count} × ${kind}`);
  return [
    `seed ${seed}`,
    `accepted ${report.accepted}`,
    done.join(', ') || 'nothing killed',
    `lost ${report.lost.length}`,
    `duplicates ${report.duplicates} of at most ${report.duplicatesMax}`,
    `slowest recovery ${(report.slowestRecoveryMs / 1000).toFixed(1)} s`,
  ].join(' · ');
}

/**
 * Period affected by a kill. Results in memory since `fromMs` may be lost. Requests of the killed process may arrive
 * until `toMs`.
 */
interface Cut {
  fromMs: number;
  atMs: number;
  toMs: number;
}

function lastCutText(cuts: readonly Cut[], beforeMs: number): string {
  const last = cuts
    .filter(({ atMs }) => atMs <= beforeMs)
    .sort((a, b) => a.atMs - b.atMs)
    .at(-1);
  return last === undefined ? 'no kill before' : `last kill ${last.atMs}, which explains results from ${last.fromMs}`;
}

/**
 * Returns the period that a kill affects. It begins earlier if PostgreSQL was down or slow right before the kill,
 * because results were not recorded then.
 */
function vulnerable({ atMs, cutUntilMs = atMs }: Disruption, { outages, slownesses = [], pace = 1 }: Evidence): Cut {
  const recordMs = RECORD_MS_MAX * pace;
  let fromMs = atMs - recordMs;
  for (const slow of slownesses) {
    const waitsMs = RECORD_ROUND_TRIPS_MAX * slow.roundTripMs;
    if (slow.fromMs <= atMs && slow.toMs + waitsMs >= atMs)
      fromMs = Math.min(fromMs, Math.max(slow.fromMs, atMs - waitsMs) - recordMs);
  }
  const before = outages.filter((outage) => outage.fromMs <= atMs).sort((a, b) => b.fromMs - a.fromMs);
  for (const outage of before) {
    if (outage.toMs + RECORD_BACKOFF_MS_MAX * pace >= fromMs) fromMs = Math.min(fromMs, outage.fromMs - recordMs);
  }
  return { fromMs, atMs, toMs: cutUntilMs + IN_TRANSIT_MS_MAX * pace };
}

function wasUnderWay({ receivedAtMs, answeredAtMs }: Arrival, { fromMs, toMs }: Pick<Cut, 'fromMs' | 'toMs'>): boolean {
  return receivedAtMs <= toMs && (answeredAtMs ?? Infinity) >= fromMs;
}

/** An unrequested duplicate delivery, and the delivery before it. */
interface Copy {
  id: string;
  before: Arrival;
  at: number;
}

function copiesOf(id: string, arrivals: readonly Arrival[]): Copy[] {
  const inOrder = [...arrivals].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
  return inOrder.flatMap((arrival, i) => {
    const before = inOrder[i - 1];
    return before && isSuccess(before) ? [{ id, before, at: arrival.receivedAtMs }] : [];
  });
}

const isSuccess = ({ status }: Arrival): boolean => status >= 200 && status < 300;

const isGood = (arrival: Arrival, sent: Sent | undefined): boolean =>
  isSuccess(arrival) && arrival.isSigned && arrival.bodyHash === sent?.bodyHash;

function recoveryMs(
  atMs: number,
  sentById: ReadonlyMap<string, Sent>,
  arrivalsById: ReadonlyMap<string, Arrival[]>,
): number {
  let slowestMs = 0;
  for (const [id, { acceptedAtMs }] of sentById) {
    if (acceptedAtMs === null || acceptedAtMs > atMs) continue;
    const good = arrivalsById.get(id)?.find(isSuccess);
    if (good) slowestMs = Math.max(slowestMs, good.receivedAtMs - atMs);
  }
  return slowestMs;
}

function grouped(arrivals: readonly Arrival[]): Map<string, Arrival[]> {
  const byId = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    const known = byId.get(arrival.id);
    if (known) known.push(arrival);
    else byId.set(arrival.id, [arrival]);
  }
  return byId;
}

const idsOf = (arrivals: readonly Arrival[]): string[] => [...new Set(arrivals.map(({ id }) => id))];
