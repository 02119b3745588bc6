import type { Schemas } from '../api/client';
import { auditEn } from '../kit/messages/en/audit';
import type { MessageKey } from '../kit/messages/t';

type Entry = Pick<Schemas['AuditItem'], 'action' | 'resource_id' | 'before' | 'after'>;

const PREFIX = 'audit.do.';
const TYPE_PREFIX = 'audit.type.';
const NAMING = ['name', 'address', 'domain', 'email', 'slug'] as const;

/** Actions that have a sentence: method and route template, or a word for an action that is not an API call. */
export const ACTIONS: readonly string[] = Object.keys(auditEn).flatMap((key) =>
  key.startsWith(PREFIX) && !key.includes('#') && key !== 'audit.do.other' ? [key.slice(PREFIX.length)] : [],
);

/** Types of resources that the audit log names. */
export const RESOURCE_TYPES: readonly string[] = Object.keys(auditEn).flatMap((key) =>
  key.startsWith(TYPE_PREFIX) ? [key.slice(TYPE_PREFIX.length)] : [],
);

/** Returns the text key of an entry's sentence. A change that only enables or disables has a sentence of its own. */
export function sentenceKey({ action, after }: Pick<Entry, 'action' | 'after'>): MessageKey {
  const known = `${PREFIX}${action}`;
  const status = after?.['status'];
  const special = `${known}#${status === 'active' ? 'enabled' : String(status)}`;
  if (special in auditEn) return special as MessageKey;
  return known in auditEn ? (known as MessageKey) : 'audit.do.other';
}

/** A part of a sentence: text, or the position of a value. */
export type SentencePart = { text: string } | { value: string };

/** Splits a text at its placeholders, so that they can be replaced by links. */
export function splitSentence(text: string): SentencePart[] {
  return text
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{\w+\}$/.test(part) ? { value: part.slice(1, -1) } : { text: part }));
}

/** Returns a sentence without its actor, as the name of the action in a list. */
export function actionLabel(sentence: string): string {
  const text = sentence
    .replace(/^\{actor\} (?:hat )?/, '')
    .replace(/ \{name\}$/, '')
    .replaceAll('{name}', '…');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the names of resources that entries contain, newest name first, by id. */
export function namesIn(entries: readonly Entry[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { resource_id: id, before, after } of entries) {
    if (id === null || names.has(id)) continue;
    const name = nameOf(after, id) ?? nameOf(before, id);
    if (name !== null) names.set(id, name);
  }
  return names;
}

/** Returns the name in a state of a resource, or null if it has none or belongs to another resource. */
function nameOf(state: Entry['after'], id: string): string | null {
  if (state === null || (typeof state['id'] === 'string' && state['id'] !== id)) return null;
  const found = [...NAMING, ...(id.startsWith('ep_') ? ['description', 'url'] : [])]
    .map((field) => state[field])
    .find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}
