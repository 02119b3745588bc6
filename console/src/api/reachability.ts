/** State of the connection: whether the service responds, and whether the session is still valid. */
export interface Reachability {
  /** Start of the current outage. Null while the service responds. */
  silentSince: number | null;
  isSignedOut: boolean;
  /** Whether another version of the console was deployed. Files of this version may then be missing on the service. */
  isReplaced: boolean;
}

let now: Reachability = { silentSince: null, isSignedOut: false, isReplaced: false };
const listeners = new Set<() => void>();

export function reachability(): Reachability {
  return now;
}

/** Calls the listener after every change to the connection state. Returns a function that unsubscribes. */
export function onReachability(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Records a response of the service. `isWell` is false if the response says that the service is unavailable. */
export function noteAnswer(isWell: boolean): void {
  if (isWell) change({ ...now, silentSince: null, isSignedOut: false });
  else noteSilence();
}

export function noteSilence(): void {
  change({ ...now, silentSince: now.silentSince ?? Date.now() });
}

export function noteSignedOut(): void {
  change({ ...now, silentSince: null, isSignedOut: true });
}

export function noteReplaced(): void {
  change({ ...now, isReplaced: true });
}

function change(next: Reachability): void {
  if (
    next.silentSince === now.silentSince &&
    next.isSignedOut === now.isSignedOut &&
    next.isReplaced === now.isReplaced
  )
    return;
  now = next;
  for (const listener of listeners) listener();
}
