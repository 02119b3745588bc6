import { useSyncExternalStore } from 'react';

/** What a reader chose for this browser. */
export interface Preferences {
  scheme: 'system' | 'light' | 'dark';
  language: 'en' | 'de';
}

const KEY = 'posthorn.preferences';
const listeners = new Set<() => void>();
let now: Preferences = { scheme: 'system', language: browserLanguage(), ...stored() };

export function preferences(): Preferences {
  return now;
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences);
}

/** Changes what is given, here and for the next visit where the browser keeps anything. */
export function prefer(changes: Partial<Preferences>): void {
  now = { ...now, ...changes };
  try {
    localStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // A browser that keeps nothing forgets this as well.
  }
  apply();
  for (const listener of listeners) listener();
}

/** Holds for this page alone, and is kept nowhere: what somebody else chose for its reader. */
export function preferHere(changes: Partial<Preferences>): void {
  now = { ...now, ...changes };
  apply();
  for (const listener of listeners) listener();
}

/** Tells the document what was chosen. */
export function apply(): void {
  document.documentElement.lang = now.language;
  document.documentElement.dataset['scheme'] = now.scheme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function browserLanguage(): Preferences['language'] {
  return navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
}

function stored(): Partial<Preferences> {
  try {
    const { scheme, language } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>;
    return {
      ...(isOneOf(scheme, ['system', 'light', 'dark']) && { scheme }),
      ...(isOneOf(language, ['en', 'de']) && { language }),
    };
  } catch {
    return {};
  }
}

function isOneOf<T>(value: T | undefined, all: readonly T[]): value is T {
  return value !== undefined && all.includes(value);
}
