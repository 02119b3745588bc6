import { idTimeMs, parseId } from '../../src/kernel/ids.js';
import type { Arrival, Disruption, Evidence, Outage, Sent } from './checker.js';
import { type Kind, kindOf } from './payload.js';

/** A webhook that the test posts, with the answers of the API. */
export interface Posted extends Sent {
  n: number;
  /** Hash of the parsed body. The check compares what pull consumers got by this hash. */
  meaning: string;
  firstTryAtMs: number;
  /** Number of attempts without a 200. Any of these attempts may have stored an event with an unknown id. */
  unanswered: number;
}

export interface Place {
  name: string;
  /** The kinds of webhooks that pass the route's filter, or null if all kinds pass. */
  kinds: readonly Kind[] | null;
  /**
   * True for a pull destination. Its deliveries are compared by the hash `meaning`, because they contain parsed bodies.
   */
  isPulled: boolean;
}

/** A delivery as its receiver observed it. */
export interface Visit extends Arrival {
  place: string;
  isReplayed: boolean;
}

/** A replay of every event up to `untilMs`. */
export interface RangeReplay {
  askedAtMs: number;
  untilMs: number;
}

/** All observations from outside of the service. */
export interface Observed {
  posted: readonly Posted[];
  visits: readonly Visit[];
  places: readonly Place[];
  replay: RangeReplay | null;
  disruptions: readonly Disruption[];
  outages: readonly Outage[];
}

/** A stored event. Its id comes from the answer, or from an arrival if an attempt got no answer. */
interface Stored {
  id: string;
  posted: Posted;
  acceptedAtMs: number | null;
}

/**
 * Converts the observations to evidence for the checker. Each delivery or replay of an event to one place (a receiver
 * path or a feed) counts as one message. If an event arrives at one place, it must arrive at all places.
 */
export function evidenceOf(observed: Observed): Evidence {
  const { posted, places, replay, disruptions, outages } = observed;
  const events = storedOf(observed);
  const byName = groupBy(observed.visits, labelOf);
  const cameReplayed = new Set(observed.visits.filter(({ isReplayed }) => isReplayed).map(({ id }) => id));
  const sent: Sent[] = posted
    .filter(({ ids }) => ids.length === 0)
    .map(({ key, bodyHash }) => ({ key, bodyHash, ids: [], acceptedAtMs: null }));
  const arrivals = new Map<Visit, string>(observed.visits.map((visit) => [visit, labelOf(visit)]));
  for (const event of events) {
    const mustComeAgain =
      replay !== null && (isSurelyIn(replay, event) || (isIn(replay, event) && cameReplayed.has(event.id)));
    for (const place of places.filter(({ kinds }) => kinds === null || kinds.includes(kindOf(event.posted.n)))) {
      const [first, again] = [label(event.id, place.name, false), label(event.id, place.name, true)];
      const visits = byName.get(first) ?? [];
      // A replay cancels a delivery that waits for a retry, and replaces it.
      const isOvertaken = mustComeAgain && !visits.some(({ status }) => status >= 200 && status < 300);
      if (isOvertaken) for (const visit of visits) arrivals.set(visit, again);
      if (!isOvertaken) sent.push(expected(first, event, place, event.acceptedAtMs));
      if (mustComeAgain) sent.push(expected(again, event, place, replay.askedAtMs));
    }
  }
  return { sent, arrivals: [...arrivals].map(([visit, id]) => ({ ...visit, id })), disruptions, outages };
}

/** Returns the ids of the events that a replay delivered. */
export function replayedOf({ visits }: Pick<Observed, 'visits'>): Set<string> {
  return new Set(visits.filter(({ isReplayed }) => isReplayed).map(({ id }) => id));
}

/**
 * Returns the ids of items that a pull destination delivered out of order. Item A is out of order if it came after item
 * B, although B was first sent only after A had been accepted.
 */
export function outOfOrder(observed: Pick<Observed, 'posted' | 'visits' | 'places'>): string[] {
  const events = new Map(storedOf(observed).map((event) => [event.id, event]));
  const wrong: string[] = [];
  for (const { name } of observed.places.filter(({ isPulled }) => isPulled)) {
    let latestMs = 0;
    for (const { id } of observed.visits.filter(({ place, isReplayed }) => place === name && !isReplayed)) {
      const { posted, acceptedAtMs } = events.get(id) ?? {};
      if (acceptedAtMs && acceptedAtMs < latestMs) wrong.push(id);
      latestMs = Math.max(latestMs, posted?.firstTryAtMs ?? 0);
    }
  }
  return wrong;
}

function storedOf({ posted, visits, places }: Pick<Observed, 'posted' | 'visits' | 'places'>): Stored[] {
  const events = new Map<string, Stored>();
  for (const each of posted)
    for (const id of each.ids) events.set(id, { id, posted: each, acceptedAtMs: each.acceptedAtMs });
  const unanswered = posted.filter((each) => each.unanswered > 0);
  const byHash = new Map(unanswered.flatMap((each) => [[each.bodyHash, each] as const, [each.meaning, each] as const]));
  const strays = new Map<Posted, number>();
  for (const { id, bodyHash, place } of visits) {
    const found = byHash.get(bodyHash);
    if (events.has(id) || !found || !places.some(({ name }) => name === place)) continue;
    strays.set(found, (strays.get(found) ?? 0) + 1);
    // An unanswered attempt can have stored an event under an unknown id. There cannot be more such events than
    // unanswered attempts.
    if ((strays.get(found) ?? 0) <= found.unanswered) events.set(id, { id, posted: found, acceptedAtMs: null });
  }
  return [...events.values()];
}

function expected(id: string, { posted }: Stored, place: Place, acceptedAtMs: number | null): Sent {
  return { key: id, bodyHash: place.isPulled ? posted.meaning : posted.bodyHash, ids: [id], acceptedAtMs };
}

const label = (id: string, place: string, isReplayed: boolean): string =>
  `${id} at ${place}${isReplayed ? ', replayed' : ''}`;
const labelOf = ({ id, place, isReplayed }: Visit): string => label(id, place, isReplayed);

function isIn({ untilMs }: RangeReplay, { id }: Stored): boolean {
  const parsed = parseId('evt', id);
  return parsed !== null && idTimeMs(parsed) <= untilMs;
}

/** Returns whether the replay must contain the event. Events accepted during the replay request may be missing. */
function isSurelyIn(replay: RangeReplay, event: Stored): boolean {
  return isIn(replay, event) && event.acceptedAtMs !== null && event.acceptedAtMs < replay.askedAtMs;
}

function groupBy<T>(from: readonly T[], nameOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of from) {
    const known = groups.get(nameOf(each));
    if (known) known.push(each);
    else groups.set(nameOf(each), [each]);
  }
  return groups;
}
