import { parseMailbox } from '#engine/mail/addresses.js';
import { LINK_NAMES, type ParsedTemplate, parseTemplate } from '#engine/mail/mail-template.js';
import type { Fault } from '#kernel/errors.js';
import type { TemplateVariable, TemplateVersionEntity } from './templates.entities.js';

/** The versioned part of a template. */
export type TemplateContent = Pick<
  TemplateVersionEntity,
  'sender' | 'replyTo' | 'subject' | 'html' | 'text' | 'variables' | 'unsubscribe'
>;

export const BODY_BYTES_MAX = 512 * 1024;
const FALLBACK_BYTES_MAX = 16 * 1024;
const VALUE_DEPTH_MAX = 8;

const IS_TYPE: Readonly<Record<TemplateVariable['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  list: Array.isArray,
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};

/** Parsed parts of a template's content. Null for a missing part. */
export type ParsedContent = { [Part in 'subject' | 'html' | 'text']: ParsedTemplate | null };

/** Returns the parsed parts of a template, or an error for each part with invalid template syntax. */
export function parseContent({
  subject,
  html,
  text,
}: Pick<TemplateContent, 'subject' | 'html' | 'text'>): ParsedContent | { faults: Fault[] } {
  const faults: Fault[] = [];
  const parsed = (path: string, source: string | null): ParsedTemplate | null => {
    const read = source === null ? null : parseTemplate(source, path === 'html');
    if (read === null || !('fault' in read)) return read;
    faults.push({ path, message: read.fault });
    return null;
  };
  const parts = { subject: parsed('subject', subject), html: parsed('html', html), text: parsed('text', text) };
  return faults.length > 0 ? { faults } : parts;
}

/** Returns errors in a template's content that the request's schema cannot detect. */
export function contentFaults(content: TemplateContent): Fault[] {
  const { sender, replyTo, subject, html, text, variables } = content;
  const parsed = parseContent(content);
  return [
    ...(sender === null ? [] : addressFaults('from', sender)),
    ...replyTo.flatMap((address, i) => addressFaults(`reply_to.${i}`, address)),
    ...(subject !== null && CONTROL.test(subject) ? [{ path: 'subject', message: NO_CONTROL }] : []),
    ...Object.entries({ html, text })
      .filter(([, body]) => body !== null && Buffer.byteLength(body) > BODY_BYTES_MAX)
      .map(([path]) => ({ path, message: `must have at most ${BODY_BYTES_MAX} bytes in UTF-8` })),
    ...('faults' in parsed ? parsed.faults : []),
    ...variables.flatMap((variable, i) => variableFaults(variable, i, variables)),
  ];
}

/** Characters that a subject must not contain, and the error message for them. */
export const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
export const NO_CONTROL = 'must have no line breaks and no control characters';

function addressFaults(path: string, text: string): Fault[] {
  const mailbox = parseMailbox(text);
  return 'refusal' in mailbox ? [{ path, message: mailbox.refusal }] : [];
}

function variableFaults(
  { key, type, fallback }: TemplateVariable,
  index: number,
  all: readonly TemplateVariable[],
): Fault[] {
  const at = `variables.${index}`;
  if (all.findIndex((other) => other.key === key) !== index)
    return [{ path: `${at}.key`, message: `is the key of an earlier variable: ${key}` }];
  if (LINK_NAMES.includes(key))
    return [{ path: `${at}.key`, message: 'is the placeholder of the unsubscribe link, and cannot be a variable' }];
  if (fallback === null) return [];
  const path = `${at}.fallback_value`;
  const message = valueFault(fallback, type, FALLBACK_BYTES_MAX);
  return message === null ? [] : [{ path, message }];
}

/**
 * Returns the error of a variable's value, or null if the value is valid. `type` is null for an undeclared variable.
 */
export function valueFault(value: unknown, type: TemplateVariable['type'] | null, bytesMax: number): string | null {
  if (type !== null && !IS_TYPE[type](value)) return `must be a ${type}`.replace('a object', 'an object');
  if (isDeep(value, VALUE_DEPTH_MAX)) return `must not be nested more than ${VALUE_DEPTH_MAX} deep`;
  return Buffer.byteLength(JSON.stringify(value)) > bytesMax ? `must have at most ${bytesMax} bytes as JSON` : null;
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeep(each, levels - 1));
}
