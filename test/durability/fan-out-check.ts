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

/** Everything that is known of a run: what senders and receivers saw, and what is stored. */
export interface Observed {
  emissions: readonly Emission[];
  /** By the message's id. */
  visits: readonly Omit<Visit, 'isReplayed'>[];
  stored: readonly StoredMessage[];
  listed: ReadonlyMap<string, readonly ListedEvent[]>;
  disruptions: readonly Disruption[];
  outages: readonly Outage[];
}

/** The checker's report, with one message in its sense for each event (`msg_… at place`), and what fan-outs promise on top. */
export interface FanOutReport extends Report {
  messages: number;
  events: number;
  /** Messages that were stored by a try without an answer: all of their events, or none. */
  untold: number;
  /** Stored with more, fewer or other events than there are endpoints that take it. */
  halfFannedOut: string[];
  /** Listed by the API with more, fewer or other events. */
  listedWrongly: string[];
  /** Another `fanout` in an answer or in the message's row. */
  countedWrongly: string[];
  /** Answered 202 and not stored. */
  vanished: string[];
  /** Emissions with more messages than their tries may have made: one, when they have an idempotency key. */
  storedTooOften: string[];
}

/** A message with what its sender wanted. */
interface Known {
  id: string;
  emission: Emission;
}

/** Compares what was emitted with what is stored, what is listed, and what arrived. */
export function checkFanOuts(observed: Observed): FanOutReport {
  const { emissions, stored, listed } = observed;
  const byNumber = new Map(emissions.map((emission) => [emission.n, emission]));
  const known = stored.flatMap(({ id, n }): Known[] =>
    n !== null && byNumber.has(n) ? [{ id, emission: byNumber.get(n) as Emission }] : [],
  );
  const storedIds = new Set(stored.map(({ id }) => id));
  const told = new Set(emissions.flatMap(({ ids }) => ids));
  const listenersOf = new Map(known.map(({ id, emission }) => [id, emission.listeners]));
  const untold = known.filter(({ id }) => !told.has(id));
  const idsOf = new Map(emissions.map((emission) => [emission, new Set(emission.ids)]));
  for (const { id, emission } of known) idsOf.get(emission)?.add(id);
  return {
    ...check(evidenceOf(observed, untold)),
    messages: stored.length,
    events: stored.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
    untold: untold.length,
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

/** Every promise that the report says was broken, a sentence each; none when all held. */
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

/** The line that a run leaves behind. */
export function fanOutSummary(seed: number, report: FanOutReport): string {
  const { messages, events, untold, halfFannedOut } = report;
  return `${summary(seed, report)} · messages ${messages} (${untold} by tries without an answer) · events ${events} · half fanned out ${halfFannedOut.length}`;
}

/** In the checker's terms: an event is a message that one place must get. */
function evidenceOf({ emissions, visits, disruptions, outages }: Observed, untold: readonly Known[]): Evidence {
  const unanswered = emissions
    .filter(({ ids }) => ids.length === 0)
    .map((emission): Sent => ({ ...emission, ids: [] }));
  const answered = emissions
    .filter(({ ids }) => ids.length > 0)
    .flatMap((emission) => expectedOf(emission.ids, emission, emission.acceptedAtMs));
  const stored = untold.flatMap(({ id, emission }) => expectedOf([id], emission, null));
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

/** Whether there is one event for each listener, or the one that says that there is none. */
function areFor(listeners: readonly Listener[] | undefined, endpoints: readonly (string | null)[]): boolean {
  if (listeners === undefined) return false;
  const wanted = listeners.length === 0 ? [null] : listeners.map(({ endpoint }) => endpoint);
  return JSON.stringify([...wanted].sort()) === JSON.stringify([...endpoints].sort());
}

const messagesMax = ({ isKeyed, unanswered }: Emission): number => (isKeyed ? 1 : 1 + unanswered);
