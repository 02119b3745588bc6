/**
 * The checker of durability. It knows what a sender was answered, what a receiver got, and when something was killed:
 * nothing of the service, its tables or its log.
 */

/** One message as its sender knows it. */
export interface Sent {
  /** The Idempotency-Key of every try. */
  key: string;
  /** SHA-256 of the payload's characters. */
  bodyHash: string;
  /** The different message ids that 202 answers to this key gave; more than one breaks the promise of the key. */
  ids: string[];
  /** When the first 202 arrived, in milliseconds since the epoch; null before that. */
  acceptedAtMs: number | null;
}

/** One request as the receiver got it, complete with its body. */
export interface Arrival {
  /** Its `webhook-id`. */
  id: string;
  bodyHash: string;
  /** Whether the signature is that of the destination's secret over id, timestamp and body. */
  isSigned: boolean;
  /** What the receiver answered; 0 when it broke the connection on purpose. */
  status: number;
  receivedAtMs: number;
  /** When the answer was written out, or null when the connection was gone before. */
  answeredAtMs: number | null;
}

/** Something that was done to the service. */
export interface Disruption {
  kind: string;
  atMs: number;
  /** Whether a process died that may have been delivering. */
  cutsAttempts: boolean;
  /** Until when attempts could be cut; `atMs` when it was a matter of a moment. */
  cutUntilMs?: number;
}

/** A time during which PostgreSQL did not answer. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** A time during which each round trip to PostgreSQL took so much longer. */
export interface Slowness extends Outage {
  roundTripMs: number;
}

/** Everything that the checker is told. */
export interface Evidence {
  sent: readonly Sent[];
  arrivals: readonly Arrival[];
  disruptions: readonly Disruption[];
  outages: readonly Outage[];
  /** None when left out. */
  slownesses?: readonly Slowness[];
  /** How many times longer work took than on a quiet machine (`Pace`); 1 when left out. */
  pace?: number;
}

/** What came of it. The lists hold message ids, or keys where they say so, and are empty when every promise was kept. */
export interface Report {
  accepted: number;
  /** Answered 202 and never delivered. */
  lost: string[];
  /** Delivered under an id that no answer gave: a message was stored twice, or out of nothing. */
  unexpected: string[];
  /** Delivered with another body than was sent. */
  altered: string[];
  /** Delivered with a signature that does not verify. */
  unsigned: string[];
  /** Keys that were given two message ids. */
  forkedKeys: string[];
  /** Keys that were never answered 202. */
  unansweredKeys: string[];
  /** Deliveries that the receiver had not asked for: it had answered the one before with 2xx. */
  duplicates: number;
  /** How many deliveries were under way or not yet recorded when a process was killed: no more may come twice. */
  duplicatesMax: number;
  /** Delivered again although nothing had been killed while the first delivery was under way. */
  unexplained: string[];
  /** When that was, a line each, for who has to find out why. */
  unexplainedTimes: string[];
  /** The longest time from a kill to the arrival of the last message that had been accepted before it. */
  slowestRecoveryMs: number;
  disruptions: Record<string, number>;
}

/** An answer that came so long before a kill is taken to be recorded. These times are of a quiet machine, and `pace` multiplies them. */
const RECORD_MS_MAX = 500;
/** What was sent before a kill is read by the receiver this much later at most. */
const IN_TRANSIT_MS_MAX = 1_000;
/** PostgreSQL is back, and still this long results wait for the next try to record them. */
const RECORD_BACKOFF_MS_MAX = 3_000;
/** A result waits for the group before it and then for its own: begin, write and commit of each. */
const RECORD_ROUND_TRIPS_MAX = 6;

/** Compares what was accepted with what arrived. */
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
      ({ id, before, at }) => `${id}: received ${before.receivedAtMs}, answered ${before.answeredAtMs}, again ${at}`,
    ),
    slowestRecoveryMs: Math.max(0, ...disruptions.map(({ atMs }) => recoveryMs(atMs, sentById, arrivalsById))),
    disruptions: Object.fromEntries(
      disruptions.map(({ kind }) => [kind, disruptions.filter((other) => other.kind === kind).length]),
    ),
  };
}

/** Every promise that the report says was broken, a sentence each; none when all held. */
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

/** The line that a run leaves behind. */
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

/** A kill, since when results may have been waiting in the process that died, and until when what it had started could come. */
interface Cut {
  fromMs: number;
  atMs: number;
  toMs: number;
}

/**
 * Results wait while PostgreSQL is away, so what was answered during an outage right before the kill was not recorded;
 * and while it is slow, some round trips' worth of what was answered.
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

/** A copy that nobody asked for, and the delivery before it. */
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
