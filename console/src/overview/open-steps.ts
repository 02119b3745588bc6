import type { Environment } from '../api/client';

const keyOf = (environment: Environment): string => `posthorn.first-steps.${environment}`;

/**
 * Returns whether the user last left the getting-started steps open in this browser. Open steps stay visible after a
 * reload, even if the environment has events.
 */
export function areStepsOpen(environment: Environment): boolean {
  try {
    return localStorage.getItem(keyOf(environment)) === 'open';
  } catch {
    return false;
  }
}

/** Stores whether the first steps are open, if the browser allows storage. */
export function keepStepsOpen(environment: Environment, isOpen: boolean): void {
  try {
    if (isOpen) localStorage.setItem(keyOf(environment), 'open');
    else localStorage.removeItem(keyOf(environment));
  } catch {
    // Without storage, a reload shows the first steps only while there are no events.
  }
}
