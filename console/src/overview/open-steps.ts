import type { Environment } from '../api/client';

const keyOf = (environment: Environment): string => `posthorn.first-steps.${environment}`;

/**
 * Returns whether the user had the first steps open in this browser. They then stay visible after a reload, even if
 * there are events.
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
