/** Whether the service answers, and whether it still knows who we are. */
export interface Reachability {
  /** Since when it has not answered; null while it does. */
  silentSince: number | null;
  isSignedOut: boolean;
  /** Another version of the console was deployed: the files of this one are gone, or will be. */
  isReplaced: boolean;
}

let now: Reachability = { silentSince: null, isSignedOut: false, isReplaced: false };
const listeners = new Set<() => void>();

export function reachability(): Reachability {
  return now;
}

/** Calls back with every change; answers with what ends that. */
export function onReachability(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The service answered; `isWell` is false for an answer that says that it cannot. */
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
