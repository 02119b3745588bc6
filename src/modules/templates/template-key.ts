import { parseId } from '#kernel/ids.js';
import type { TemplateKey } from './templates.store.js';

/**
 * Returns the key of a template from its id or alias. The two are distinct, because an alias cannot begin like an id.
 */
export function templateKey(text: string): TemplateKey {
  const id = parseId('tpl', text);
  return id === null ? { alias: text } : { id };
}
