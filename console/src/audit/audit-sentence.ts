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

/** Fields that differ after every change. */
const BOOKKEEPING = ['version', 'updated_at', 'updatedAt'];

/**
 * Returns the text key of an entry's sentence. A change that only enables, disables or renames has a sentence of its own.
 */
export function sentenceKey(entry: Pick<Entry, 'action' | 'before' | 'after'>): MessageKey {
  const known = `${PREFIX}${entry.action}`;
  const status = entry.after?.['status'];
  const kind = status === 'active' ? 'enabled' : renamed(entry) === null ? String(status) : 'renamed';
  const special = `${known}#${kind}`;
  if (special in auditEn) return special as MessageKey;
  return known in auditEn ? (known as MessageKey) : 'audit.do.other';
}

/** Returns the names before and after a change that only renames, or null for another change. */
export function renamed({ before, after }: Pick<Entry, 'before' | 'after'>): { before: string; after: string } | null {
  const [old, now] = [before?.['name'], after?.['name']];
  if (typeof old !== 'string' || typeof now !== 'string' || old === '' || now === '') return null;
  const others = Object.keys({ ...before, ...after }).filter((field) => field !== 'name');
  return others.every((field) => BOOKKEEPING.includes(field)) ? { before: old, after: now } : null;
}

/** A part of a sentence: text, or a placeholder for a value. */
export type SentencePart = { text: string } | { value: string };

/** Splits a text at its placeholders, so that they can be replaced by links. */
export function splitSentence(text: string): SentencePart[] {
  return text
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{\w+\}$/.test(part) ? { value: part.slice(1, -1) } : { text: part }));
}

/** Returns a sentence without its actor, and in German without the article after it, as the name of the action in a list. */
export function actionLabel(sentence: string): string {
  const text = sentence
    .replace(/^\{actor\} (?:hat (?:das |den |die )?)?/, '')
    .replace(/ \{name\}$/, '')
    .replaceAll('{name}', '…');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the newest name of each resource that the entries contain, by the resource's id. */
export function namesIn(entries: readonly Entry[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { resource_id: id, before, after } of entries) {
    if (id === null || names.has(id)) continue;
    const name = nameOf(after, id) ?? nameOf(before, id);
    if (name !== null) names.set(id, name);
  }
  return names;
}

/**
 * Returns the name of the resource `id` from its recorded state. Returns null if the state has no name, or belongs to
 * another resource.
 */
function nameOf(state: Entry['after'], id: string): string | null {
  if (state === null || (typeof state['id'] === 'string' && state['id'] !== id)) return null;
  const found = [...NAMING, ...(id.startsWith('ep_') ? ['description', 'url'] : [])]
    .map((field) => state[field])
    .find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}
