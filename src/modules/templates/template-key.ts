import { parseId } from '#kernel/ids.js';
import type { TemplateKey } from './templates.store.js';

/** Parses a reference to a template: an id or an alias. An alias cannot begin like an id, so the two are distinct. */
export function templateKey(text: string): TemplateKey {
  const id = parseId('tpl', text);
  return id === null ? { alias: text } : { id };
}
