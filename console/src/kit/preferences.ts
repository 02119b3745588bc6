import { useSyncExternalStore } from 'react';
import { readWidths, type Widths } from './table/widths';

/** Preferences of the user in this browser. */
export interface Preferences {
  scheme: 'system' | 'light' | 'dark';
  language: 'en' | 'de';
  /** Whether the navigation of the console shows only icons. */
  sidebar: 'open' | 'collapsed';
  /** Height of the rows of tables. */
  density: 'comfortable' | 'compact';
  /** Widths of the columns of tables, by list. */
  columnWidths: Readonly<Record<string, Widths>>;
}

const KEY = 'posthorn.preferences';
const listeners = new Set<() => void>();
let now: Preferences = {
  scheme: 'system',
  language: browserLanguage(),
  sidebar: 'open',
  density: 'comfortable',
  columnWidths: {},
  ...stored(),
};

export function preferences(): Preferences {
  return now;
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences);
}

/** Changes preferences. Stores them for later visits if the browser allows it. */
export function prefer(changes: Partial<Preferences>): void {
  now = { ...now, ...changes };
  try {
    localStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // Without storage, the change is lost when the user leaves the page.
  }
  apply();
  for (const listener of listeners) listener();
}

/** Changes preferences without storing them. Used if the embedding page sets them for its user. */
export function preferHere(changes: Partial<Preferences>): void {
  now = { ...now, ...changes };
  apply();
  for (const listener of listeners) listener();
}

/** Applies the preferences to the document. */
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
    const { scheme, language, sidebar, density, columnWidths } = JSON.parse(
      localStorage.getItem(KEY) ?? '{}',
    ) as Partial<Preferences>;
    return {
      ...(isOneOf(scheme, ['system', 'light', 'dark']) && { scheme }),
      ...(isOneOf(language, ['en', 'de']) && { language }),
      ...(isOneOf(sidebar, ['open', 'collapsed']) && { sidebar }),
      ...(isOneOf(density, ['comfortable', 'compact']) && { density }),
      columnWidths: readWidths(columnWidths),
    };
  } catch {
    return {};
  }
}

function isOneOf<T>(value: T | undefined, all: readonly T[]): value is T {
  return value !== undefined && all.includes(value);
}
