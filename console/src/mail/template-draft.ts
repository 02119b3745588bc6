import { readJson, writeJson } from '../kit/json/read-json';
import type { Template } from './template-queries';

export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'list', 'object'] as const;

/** Value of `topic` for a link that unsubscribes from all emails. */
export const ALL_EMAILS = '*';

/** A variable of a template, as the form edits it. */
export interface VariableDraft {
  key: string;
  type: (typeof VARIABLE_TYPES)[number];
  /** Fallback as text: plain for a string, JSON for the other types. Empty for none, `""` for an empty string. */
  fallback: string;
}

/** A template, as the form edits it. */
export interface TemplateDraft {
  name: string;
  alias: string;
  from: string;
  replyTo: string;
  subject: string;
  html: string;
  text: string;
  /** Topic of the unsubscribe link, `ALL_EMAILS`, or empty for no link. */
  topic: string;
  variables: VariableDraft[];
}

/** Fields of a template that the form changes, as the API expects them. */
export interface TemplateChanges {
  name?: string;
  alias?: string | null;
  from?: string | null;
  reply_to?: string[];
  subject?: string | null;
  html?: string | null;
  text?: string | null;
  unsubscribe?: boolean | { topic: string } | null;
  variables?: { key: string; type: VariableDraft['type']; fallback_value: unknown }[];
}

type Content = Pick<
  Template,
  'name' | 'alias' | 'from' | 'reply_to' | 'subject' | 'html' | 'text' | 'unsubscribe' | 'variables'
>;

const KEY = /^[A-Za-z_]\w{0,63}$/;

export function templateDraftOf(template: Content): TemplateDraft {
  const { name, alias, from, reply_to: replyTo, subject, html, text, unsubscribe, variables } = template;
  return {
    name,
    alias: alias ?? '',
    from: from ?? '',
    replyTo: replyTo.join(', '),
    subject: subject ?? '',
    html: html ?? '',
    text: text ?? '',
    topic: unsubscribe === true ? ALL_EMAILS : typeof unsubscribe === 'object' ? (unsubscribe?.topic ?? '') : '',
    variables: variables.map(({ key, type, fallback_value: value }) => ({ key, type, fallback: textOf(type, value) })),
  };
}

/** Returns the fields that differ between the drafts, in the API's format. */
export function templateChangesOf(draft: TemplateDraft, before: TemplateDraft): TemplateChanges {
  const changes: Required<TemplateChanges> = {
    name: draft.name,
    alias: orNull(draft.alias),
    from: orNull(draft.from),
    reply_to: draft.replyTo
      .split(/[,;]\s*(?=[^"]*(?:"[^"]*"[^"]*)*$)/)
      .map((address) => address.trim())
      .filter(Boolean),
    subject: orNull(draft.subject),
    html: orNull(draft.html),
    text: orNull(draft.text),
    unsubscribe: draft.topic === '' ? null : draft.topic === ALL_EMAILS ? true : { topic: draft.topic },
    variables: draft.variables.map(({ key, type, fallback }) => ({
      key: key.trim(),
      type,
      fallback_value: readFallback(type, fallback).value,
    })),
  };
  const fields: Readonly<Record<keyof TemplateChanges, keyof TemplateDraft>> = {
    name: 'name',
    alias: 'alias',
    from: 'from',
    reply_to: 'replyTo',
    subject: 'subject',
    html: 'html',
    text: 'text',
    unsubscribe: 'topic',
    variables: 'variables',
  };
  return Object.fromEntries(
    Object.entries(changes).filter(([name]) => {
      const field = fields[name as keyof TemplateChanges];
      return JSON.stringify(draft[field]) !== JSON.stringify(before[field]);
    }),
  );
}

/** Returns the part of a variable that is invalid, or null. */
export function variableFaultOf(variable: VariableDraft, others: readonly VariableDraft[]): 'key' | 'fallback' | null {
  const key = variable.key.trim();
  if (!KEY.test(key) || others.some((other) => other !== variable && other.key.trim() === key)) return 'key';
  return readFallback(variable.type, variable.fallback).isValid ? null : 'fallback';
}

/** Returns sample values: the fallback of each variable, or a value of its type. */
export function sampleOf(variables: Template['variables']): Record<string, unknown> {
  return Object.fromEntries(
    variables.map(({ key, type, fallback_value: value }) => [key, value ?? exampleOf(key, type)]),
  );
}

/** Returns the sample with a value for each missing variable. Keeps the values that the sample has. */
export function withMissing(
  sample: Readonly<Record<string, unknown>>,
  missing: readonly string[],
): Record<string, unknown> {
  return { ...Object.fromEntries(missing.map((key) => [key, key])), ...sample };
}

function exampleOf(key: string, type: VariableDraft['type']): unknown {
  return { string: key, number: 1, boolean: true, list: [], object: {} }[type];
}

function readFallback(type: VariableDraft['type'], text: string): { value: unknown; isValid: boolean } {
  if (text.trim() === '') return { value: null, isValid: true };
  if (type === 'string') return { value: text === '""' ? '' : text, isValid: true };
  const { value, fault } = readJson(text);
  const isOfType =
    type === 'list'
      ? Array.isArray(value)
      : type === 'object'
        ? typeof value === 'object' && value !== null && !Array.isArray(value)
        : typeof value === type;
  return { value, isValid: fault === null && isOfType };
}

function textOf(type: VariableDraft['type'], value: unknown): string {
  if (type === 'string' && typeof value === 'string') return value === '' ? '""' : value;
  return type === 'list' || type === 'object' ? writeJson(value) : value === null ? '' : JSON.stringify(value);
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text;
}
