import {
  broken,
  check,
  type Disruption,
  type Evidence,
  type Outage,
  type Report,
  type Sent,
  summary,
} from './checker.js';
import type { Emission } from './fan-out-emitter.js';
import type { Listener } from './fan-out-fleet.js';
import type { ListedEvent, StoredMessage } from './fan-out-ledger.js';
import type { Visit } from './routed.js';

/** All observations of a run: those of senders and receivers, and the stored rows. */
export interface Observed {
  emissions: readonly Emission[];
  /** Deliveries that receivers got. The id of each delivery is the message id. */
  visits: readonly Omit<Visit, 'isReplayed'>[];
  stored: readonly StoredMessage[];
  listed: ReadonlyMap<string, readonly ListedEvent[]>;
  disruptions: readonly Disruption[];
  outages: readonly Outage[];
}

/**
 * Report on deliveries and on the guarantees of fan-out. In the inherited lists, each event of a message has its own
 * item (`msg_… at place`).
 */
export interface FanOutReport extends Report {
  messages: number;
  events: number;
  /** Number of stored messages whose sender got no answer. */
  unacknowledged: number;
  /** Messages whose stored events do not match the endpoints: too many, too few, or wrong ones. */
  halfFannedOut: string[];
  /** Messages that the API lists with too many, too few, or wrong events. */
  listedWrongly: string[];
  /** Messages whose answer or row has a wrong `fanout`. */
  countedWrongly: string[];
  /** Messages that were answered with 202 and not stored. */
  vanished: string[];
  /** Requests that created too many messages. An idempotency key allows only one message. */
  storedTooOften: string[];
}

/** A message, with the test's record of the request that created it. */
interface Known {
  id: string;
  emission: Emission;
}

/** Compares the emitted events with the stored, listed and received ones, and returns the report. */
export function checkFanOuts(observed: Observed): FanOutReport {
  const { emissions, stored, listed } = observed;
  const byNumber = new Map(emissions.map((emission) => [emission.n, emission]));
  const known = stored.flatMap(({ id, n }): Known[] =>
    n !== null && byNumber.has(n) ? [{ id, emission: byNumber.get(n) as Emission }] : [],
  );
  const storedIds = new Set(stored.map(({ id }) => id));
  const told = new Set(emissions.flatMap(({ ids }) => ids));
  const listenersOf = new Map(known.map(({ id, emission }) => [id, emission.listeners]));
  const unacknowledged = known.filter(({ id }) => !told.has(id));
  const idsOf = new Map(emissions.map((emission) => [emission, new Set(emission.ids)]));
  for (const { id, emission } of known) idsOf.get(emission)?.add(id);
  return {
    ...check(evidenceOf(observed, unacknowledged)),
    messages: stored.length,
    events: stored.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
    unacknowledged: unacknowledged.length,
    halfFannedOut: stored.filter(({ id, endpoints }) => !areFor(listenersOf.get(id), endpoints)).map(({ id }) => id),
    listedWrongly: [...listed]
      .filter(
        ([id, events]) =>
          !areFor(
            listenersOf.get(id),
            events.map(({ endpoint }) => endpoint),
          ),
      )
      .map(([id]) => id),
    countedWrongly: [
      ...stored.filter(({ id, fanout }) => fanout !== listenersOf.get(id)?.length).map(({ id }) => id),
      ...emissions
        .filter(({ fanouts, listeners }) => fanouts.some((fanout) => fanout !== listeners.length))
        .map(({ key }) => key),
    ],
    vanished: [...told].filter((id) => !storedIds.has(id)),
    storedTooOften: emissions
      .filter((emission) => (idsOf.get(emission)?.size ?? 0) > messagesMax(emission))
      .map(({ key }) => key),
  };
}

/** Returns one sentence for each guarantee that the report shows as broken. */
export function brokenFanOuts(report: FanOutReport): string[] {
  const claims: [string, number][] = [
    ['messages were half fanned out', report.halfFannedOut.length],
    ['messages were listed with other events', report.listedWrongly.length],
    ['fan-outs were counted wrongly', report.countedWrongly.length],
    ['messages were answered 202 and are not stored', report.vanished.length],
    ['emissions were stored too often', report.storedTooOften.length],
  ];
  return [...broken(report), ...claims.filter(([, count]) => count > 0).map(([claim, count]) => `${count} ${claim}`)];
}

/** Returns the one-line summary of a run. */
export function fanOutSummary(seed: number, report: FanOutReport): string {
  const { messages, events, unacknowledged, halfFannedOut } = report;
  return `${summary(seed, report)} · messages ${messages} (${unacknowledged} by tries without an answer) · events ${events} · half fanned out ${halfFannedOut.length}`;
}

/**
 * Converts the fan-outs to evidence for the checker: each event becomes a message that one receiver or feed must get.
 */
function evidenceOf({ emissions, visits, disruptions, outages }: Observed, unacknowledged: readonly Known[]): Evidence {
  const unanswered = emissions
    .filter(({ ids }) => ids.length === 0)
    .map((emission): Sent => ({ ...emission, ids: [] }));
  const answered = emissions
    .filter(({ ids }) => ids.length > 0)
    .flatMap((emission) => expectedOf(emission.ids, emission, emission.acceptedAtMs));
  const stored = unacknowledged.flatMap(({ id, emission }) => expectedOf([id], emission, null));
  return {
    sent: [...unanswered, ...answered, ...stored],
    arrivals: visits.map((visit) => ({ ...visit, id: label(visit.id, visit.place) })),
    disruptions,
    outages,
  };
}

function expectedOf(
  ids: readonly string[],
  { key, bodyHash, meaning, listeners }: Emission,
  acceptedAtMs: number | null,
): Sent[] {
  return listeners.map(({ place, isPulled }) => ({
    key: `${key} at ${place}`,
    bodyHash: isPulled ? meaning : bodyHash,
    ids: ids.map((id) => label(id, place)),
    acceptedAtMs,
  }));
}

export const label = (id: string, place: string): string => `${id} at ${place}`;

/** Returns whether there is one event per listener, or one event without an endpoint if there is no listener. */
function areFor(listeners: readonly Listener[] | undefined, endpoints: readonly (string | null)[]): boolean {
  if (listeners === undefined) return false;
  const wanted = listeners.length === 0 ? [null] : listeners.map(({ endpoint }) => endpoint);
  return JSON.stringify([...wanted].sort()) === JSON.stringify([...endpoints].sort());
}

const messagesMax = ({ isKeyed, unanswered }: Emission): number => (isKeyed ? 1 : 1 + unanswered);
