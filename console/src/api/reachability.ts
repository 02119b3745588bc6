/** State of the connection: whether the service responds, and whether the session is still valid. */
export interface Reachability {
  /** Current outage. Null while the service responds. */
  outage: Outage | null;
  isSignedOut: boolean;
  /** Whether another version of the console was deployed. Files of this version may then be missing on the service. */
  isReplaced: boolean;
}

/** A time in which the service does not respond. */
export interface Outage {
  /** Time of the last successful response before the outage. Null if there was none since the page was loaded. */
  lastSuccessAt: number | null;
}

/** Statuses with which a proxy answers if it cannot reach the service. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

let now: Reachability = { outage: null, isSignedOut: false, isReplaced: false };
let lastSuccessAt: number | null = null;
const listeners = new Set<() => void>();

export function reachability(): Reachability {
  return now;
}

/** Calls the listener after every change to the connection state. Returns a function that unsubscribes. */
export function onReachability(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Records the status of a response. `isOwn`: the service itself sent it, not a proxy. A 500 or 503 of the service
 * concerns only its own call, so it is not an outage. It is not a successful response either.
 */
export function noteAnswer(status: number, isOwn: boolean): void {
  if (!isOwn && UNAVAILABLE.has(status)) return noteSilence();
  if (status < 400) lastSuccessAt = Date.now();
  change({ ...now, outage: null, isSignedOut: status === 401 });
}

/** Records that the event stream works. Other calls decide whether the user is signed in. */
export function noteStream(): void {
  lastSuccessAt = Date.now();
  change({ ...now, outage: null });
}

export function noteSilence(): void {
  change({ ...now, outage: now.outage ?? { lastSuccessAt } });
}

export function noteReplaced(): void {
  change({ ...now, isReplaced: true });
}

function change(next: Reachability): void {
  if (next.outage === now.outage && next.isSignedOut === now.isSignedOut && next.isReplaced === now.isReplaced) return;
  now = next;
  for (const listener of listeners) listener();
}
