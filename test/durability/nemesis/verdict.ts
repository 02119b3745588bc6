import { broken, check, type Disruption, type Outage, type Sent, type Slowness } from '../checker.js';
import type { FailedTry } from '../load.js';
import type { Received } from '../receiver.js';
import { type Inflicted, wasStorageBroken } from './fault.js';
import type { MailVerdict } from './mail-verdict.js';

/** All observations of one round, made outside of the service. */
export interface RoundEvidence {
  faults: readonly Inflicted[];
  sent: readonly Sent[];
  failedTries: readonly FailedTry[];
  /** API responses that no attempt to send a message should get. */
  refusals: readonly string[];
  /** Requests that the normal destinations got during the round. */
  arrivals: readonly Received[];
  /** Message ids of earlier rounds, all of which were delivered. */
  earlier: ReadonlySet<string>;
  destinations: number;
  /** Addresses of the API nodes. */
  nodes: readonly string[];
  /** Processes that exited by themselves. */
  crashes: readonly string[];
  /** True if every attempt must be answered, because the only faults of the round were rolling restarts. */
  isSeamless: boolean;
  /** How many times longer work took during the round than on a quiet machine. */
  pace: number;
  /** The result for the mail of the round, or null without mail. */
  mail: MailVerdict | null;
}

/** The result of a round. */
export interface Verdict {
  kinds: string[];
  effects: string[];
  accepted: number;
  lost: number;
  doubled: number;
  /** Number of duplicate deliveries that at-least-once delivery allows, because a fault cut the first delivery. */
  doubledAllowed: number;
  corrupted: number;
  wronglySigned: number;
  /** Number of deliveries whose timestamp is five minutes off, so that the receiver rejects them. */
  misdated: number;
  /** Number of messages that no node accepted although a node was up. */
  refused: number;
  crashed: number;
  /**
   * Time from the end of the last fault until every destination was reached and all older messages had arrived. Null if
   * this never happened.
   */
  backSeconds: number | null;
  /** The limit for `backSeconds` on this machine with its current load. */
  backSecondsMax: number;
  /** Whether deliveries recovered later than guaranteed, or never. */
  isLate: boolean;
  mail: MailVerdict | null;
  /** One sentence for each broken guarantee. */
  wrongs: string[];
  /** Times of the duplicate deliveries that no fault explains. */
  unexplained: string[];
}

/** Duration of a lease. It does not depend on the load of the machine, because PostgreSQL's clock measures it. */
const LEASE_SECONDS = 10;
/** Time to connect, claim, accept and deliver again on a quiet machine. */
const WORK_SECONDS = 5;

/**
 * Returns the guaranteed maximum number of seconds from the end of the last fault until a node accepts again and
 * deliveries work again.
 */
export const backSecondsMax = (pace: number): number => LEASE_SECONDS + WORK_SECONDS * pace;

/** Returns a sentence for each guarantee that the round broke. A late recovery counts as a broken guarantee. */
export const complaintsOf = ({ wrongs, isLate }: Verdict): string[] => [
  ...wrongs,
  ...(isLate ? ['deliveries were back too late'] : []),
];

/** Returns the verdict: compares sent with arrived messages, and the injected faults with their effects. */
export function judge(evidence: RoundEvidence): Verdict {
  const { faults, sent, earlier, crashes, pace } = evidence;
  const arrivals = evidence.arrivals.filter(({ id }) => !earlier.has(id));
  const late = evidence.arrivals.length - arrivals.length;
  const disruptions: Disruption[] = faults.flatMap((fault) => fault.disruptions);
  const outages: Outage[] = faults.filter(({ isOutage }) => isOutage).map(({ fromMs, toMs }) => ({ fromMs, toMs }));
  const slownesses: Slowness[] = faults.flatMap(({ fromMs, toMs, roundTripMs }) =>
    roundTripMs === undefined ? [] : [{ fromMs, toMs, roundTripMs }],
  );
  const report = check({ sent, arrivals, disruptions, outages, slownesses, pace });
  const back = backSeconds(evidence);
  const refused = evidence.isSeamless ? evidence.failedTries.length : refusedMessages(evidence);
  const claims: [string, number][] = [
    ['messages were delivered again rounds later', late],
    [`messages were refused although a node was up (${statusesOf(evidence.failedTries)})`, refused],
    ['tries were answered as none should be', evidence.refusals.length],
    ['processes ended by themselves', crashes.length],
    [
      'processes left undrained although storage was there',
      wasStorageBroken(faults) ? 0 : sum(faults.map(({ undrained = 0 }) => undrained)),
    ],
  ];
  return {
    kinds: faults.map(({ kind }) => kind),
    effects: faults.map(({ effect }) => effect),
    accepted: report.accepted,
    lost: report.lost.length,
    doubled: report.duplicates + late,
    doubledAllowed: report.duplicates - report.unexplained.length,
    corrupted: report.altered.length,
    wronglySigned: report.unsigned.length,
    misdated: arrivals.filter(({ isMisdated }) => isMisdated).length,
    refused,
    crashed: crashes.length,
    backSeconds: back,
    backSecondsMax: backSecondsMax(pace),
    isLate: back === null || back > backSecondsMax(pace),
    mail: evidence.mail,
    unexplained: report.unexplainedTimes,
    wrongs: [
      ...(evidence.mail?.wrongs ?? []),
      ...broken(report),
      ...claims.filter(([, count]) => count > 0).map(([claim, count]) => `${count} ${claim}`),
    ],
  };
}

/** Returns the number of messages that two nodes refused in a row although the second node and storage worked. */
function refusedMessages({ failedTries, faults, nodes, pace }: RoundEvidence): number {
  const byKey = new Map<string, FailedTry[]>();
  for (const failed of failedTries) byKey.set(failed.key, [...(byKey.get(failed.key) ?? []), failed]);
  const turns = faults.flatMap((fault) => fault.turns ?? []);
  const wasUp = ({ fromMs, toMs }: FailedTry): boolean => {
    const during = faults.filter(
      (fault) => fault.fromMs <= toMs && fault.toMs + backSecondsMax(pace) * 1_000 >= fromMs,
    );
    const hadTurn = (node: string): boolean =>
      turns.some((turn) => turn.url === node && turn.fromMs <= toMs && turn.toMs >= fromMs);
    return (
      !during.some(({ isOutage }) => isOutage) &&
      nodes.some((node) => !hadTurn(node) && !during.some(({ away }) => away.includes(node)))
    );
  };
  return [...byKey.values()].filter((tries) =>
    tries.slice(1).some((failed, i) => failed.url !== tries[i]?.url && wasUp(failed)),
  ).length;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Returns the numbers of failed attempts by status, for debugging: "503 x 12, ECONNRESET x 3". */
function statusesOf(tries: readonly FailedTry[]): string {
  const counts = new Map<string, number>();
  for (const { status } of tries) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status} x ${count}`).join(', ');
}

function backSeconds({ faults, sent, arrivals, destinations }: RoundEvidence): number | null {
  const endMs = Math.max(...faults.map(({ toMs }) => toMs));
  const acceptedAtMs = new Map(
    sent.flatMap(({ ids, acceptedAtMs: at }) => ids.map((id) => [id, at ?? Infinity] as const)),
  );
  const firstAtMs = new Map<string, number>();
  const freshAtMs = new Map<number, number>();
  for (const { id, status, receivedAtMs, destination } of arrivals) {
    const accepted = acceptedAtMs.get(id);
    if (status !== 200 || accepted === undefined) continue;
    firstAtMs.set(id, Math.min(firstAtMs.get(id) ?? Infinity, receivedAtMs));
    if (accepted >= endMs) freshAtMs.set(destination, Math.min(freshAtMs.get(destination) ?? Infinity, receivedAtMs));
  }
  const backlog = [...acceptedAtMs].filter(([, at]) => at < endMs).map(([id]) => firstAtMs.get(id) ?? Infinity);
  if (freshAtMs.size < destinations) return null;
  const backAtMs = Math.max(endMs, ...freshAtMs.values(), ...backlog);
  return backAtMs === Infinity ? null : (backAtMs - endMs) / 1_000;
}
