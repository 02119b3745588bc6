import type { MessageKey } from '../kit/messages/t';
import type { ShortcutId } from '../kit/shortcuts/registry';

interface Screen {
  id: ShortcutId;
  path: string;
  label: MessageKey;
  scope: 'read' | 'write' | 'admin';
}

/** All screens in groups, in the order of the navigation. The first group needs no heading. */
export const GROUPS = [
  {
    heading: null,
    screens: [
      { id: 'overview', path: '/$env/overview', label: 'nav.overview', scope: 'read' },
      { id: 'events', path: '/$env/events', label: 'nav.events', scope: 'read' },
      { id: 'send', path: '/$env/send', label: 'send.title', scope: 'write' },
    ],
  },
  {
    heading: 'nav.group.webhooks',
    screens: [
      { id: 'destinations', path: '/$env/destinations', label: 'nav.destinations', scope: 'read' },
      { id: 'endpoints', path: '/$env/endpoints', label: 'nav.endpoints', scope: 'read' },
      { id: 'applications', path: '/$env/applications', label: 'nav.applications', scope: 'read' },
      { id: 'event-types', path: '/$env/event-types', label: 'nav.event-types', scope: 'read' },
    ],
  },
  {
    heading: 'nav.group.email',
    screens: [
      { id: 'emails', path: '/$env/emails', label: 'nav.emails', scope: 'read' },
      { id: 'templates', path: '/$env/templates', label: 'nav.templates', scope: 'read' },
      { id: 'topics', path: '/$env/topics', label: 'nav.topics', scope: 'read' },
      { id: 'inbox', path: '/$env/inbox', label: 'nav.inbox', scope: 'read' },
      { id: 'suppressions', path: '/$env/suppressions', label: 'nav.suppressions', scope: 'read' },
      { id: 'domains', path: '/$env/domains', label: 'nav.domains', scope: 'read' },
    ],
  },
  {
    heading: 'nav.group.operations',
    screens: [
      { id: 'pull', path: '/$env/pull', label: 'nav.pull', scope: 'read' },
      { id: 'jobs', path: '/$env/jobs', label: 'nav.jobs', scope: 'read' },
    ],
  },
  {
    heading: 'nav.group.settings',
    screens: [
      { id: 'secrets', path: '/$env/secrets', label: 'nav.secrets', scope: 'read' },
      { id: 'keys', path: '/$env/keys', label: 'nav.keys', scope: 'admin' },
      { id: 'members', path: '/$env/members', label: 'nav.members', scope: 'admin' },
      { id: 'sessions', path: '/$env/sessions', label: 'nav.sessions', scope: 'admin' },
      { id: 'audit', path: '/$env/audit', label: 'nav.audit', scope: 'admin' },
      { id: 'organization', path: '/$env/organization', label: 'nav.organization', scope: 'read' },
    ],
  },
] as const satisfies readonly { heading: MessageKey | null; screens: readonly Screen[] }[];

export const SCREENS = GROUPS.flatMap((group) => [...group.screens]);
