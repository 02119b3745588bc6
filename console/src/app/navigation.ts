import type { MessageKey } from '../kit/messages/t';
import type { ShortcutId } from '../kit/shortcuts/registry';

/** The screens that there are, in the order in which they are shown. */
export const SCREENS = [
  { id: 'overview', path: '/$env/overview', label: 'nav.overview', scope: 'read' },
  { id: 'events', path: '/$env/events', label: 'nav.events', scope: 'read' },
  { id: 'destinations', path: '/$env/destinations', label: 'nav.destinations', scope: 'read' },
  { id: 'jobs', path: '/$env/jobs', label: 'nav.jobs', scope: 'read' },
  { id: 'secrets', path: '/$env/secrets', label: 'nav.secrets', scope: 'read' },
  { id: 'keys', path: '/$env/keys', label: 'nav.keys', scope: 'admin' },
  { id: 'members', path: '/$env/members', label: 'nav.members', scope: 'admin' },
  { id: 'sessions', path: '/$env/sessions', label: 'nav.sessions', scope: 'admin' },
  { id: 'audit', path: '/$env/audit', label: 'nav.audit', scope: 'admin' },
  { id: 'organization', path: '/$env/organization', label: 'nav.organization', scope: 'read' },
] as const satisfies readonly { id: ShortcutId; path: string; label: MessageKey; scope: 'read' | 'write' | 'admin' }[];
