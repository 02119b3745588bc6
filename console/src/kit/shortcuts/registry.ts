import type { MessageKey } from '../messages/t';

/** All shortcuts of the console. Handlers, tooltips and the help page use this list. */
export const SHORTCUTS = {
  menu: { keys: ['Mod+k'], label: 'shortcut.menu' },
  help: { keys: ['?'], label: 'shortcut.help' },
  overview: { keys: ['g o'], label: 'shortcut.overview' },
  events: { keys: ['g e'], label: 'shortcut.events' },
  send: { keys: ['g c'], label: 'send.title' },
  destinations: { keys: ['g d'], label: 'shortcut.destinations' },
  endpoints: { keys: ['g n'], label: 'shortcut.endpoints' },
  applications: { keys: ['g a'], label: 'shortcut.applications' },
  'event-types': { keys: ['g y'], label: 'shortcut.event-types' },
  pull: { keys: ['g p'], label: 'shortcut.pull' },
  jobs: { keys: ['g j'], label: 'shortcut.jobs' },
  keys: { keys: ['g k'], label: 'shortcut.keys' },
  emails: { keys: ['g m'], label: 'nav.emails' },
  templates: { keys: ['g f'], label: 'nav.templates' },
  topics: { keys: ['g h'], label: 'nav.topics' },
  inbox: { keys: ['g x'], label: 'nav.inbox' },
  suppressions: { keys: ['g b'], label: 'nav.suppressions' },
  domains: { keys: ['g w'], label: 'nav.domains' },
  secrets: { keys: ['g s'], label: 'shortcut.secrets' },
  members: { keys: ['g u'], label: 'shortcut.members' },
  sessions: { keys: ['g i'], label: 'shortcut.sessions' },
  audit: { keys: ['g l'], label: 'shortcut.audit' },
  organization: { keys: ['g r'], label: 'shortcut.organization' },
  environment: { keys: ['g t'], label: 'shortcut.environment' },
  next: { keys: ['j'], label: 'shortcut.next' },
  previous: { keys: ['k'], label: 'shortcut.previous' },
  pause: { keys: ['p'], label: 'shortcut.pause' },
  select: { keys: ['x'], label: 'shortcut.select' },
  back: { keys: ['u'], label: 'shortcut.back' },
  replay: { keys: ['r'], label: 'shortcut.replay' },
  undo: { keys: ['z'], label: 'shortcut.undo' },
} as const satisfies Record<string, { keys: readonly string[]; label: MessageKey }>;

export type ShortcutId = keyof typeof SHORTCUTS;

/** A pressed key. */
export interface Pressed {
  key: string;
  isMod: boolean;
  isAlt: boolean;
  /** Whether a text field has the focus. Letters then trigger no shortcuts. */
  isTyping: boolean;
}

/**
 * Returns the shortcut that the pressed key completes, if any. Pass `after` as `before` in the next call, because a
 * shortcut can have two keys.
 */
export function readKey(
  { key, isMod, isAlt, isTyping }: Pressed,
  before: string | null,
): { id: ShortcutId | null; after: string | null } {
  if (isAlt || (isTyping && !isMod)) return { id: null, after: null };
  const said = isMod ? `Mod+${key.toLowerCase()}` : key;
  const whole = before === null ? said : `${before} ${said}`;
  const entries = Object.entries(SHORTCUTS) as [ShortcutId, { keys: readonly string[] }][];
  const found =
    entries.find(([, { keys }]) => keys.includes(whole)) ?? entries.find(([, { keys }]) => keys.includes(said));
  if (found !== undefined) return { id: found[0], after: null };
  return {
    id: null,
    after: entries.some(([, { keys }]) => keys.some((each) => each.startsWith(`${said} `))) ? said : null,
  };
}

/** Returns the keys of a shortcut for display. */
export function keysOf(id: ShortcutId): string {
  const isMac = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent);
  return SHORTCUTS[id].keys
    .join(', ')
    .replace('Mod+', isMac ? '⌘' : 'Ctrl+')
    .replace(/\bk$/, (k) => (id === 'menu' ? 'K' : k));
}
