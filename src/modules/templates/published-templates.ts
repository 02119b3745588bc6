import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { BusyTurns } from '#kernel/concurrency/busy-turns.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { type Fault } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { UnsubscribeSetting } from '#modules/topics/contract.js';
import { parseContent, type ParsedContent, type TemplateContent } from './template-content.js';
import { templateKey } from './template-key.js';
import { renderContent } from './template-rendering.js';
import { TemplatesStore } from './templates.store.js';

/** The template that an email uses, and the values of the template's variables. */
export interface TemplateUse {
  /** Id in the form `tpl_…`, or alias. */
  id: string;
  variables: Readonly<Record<string, unknown>>;
}

/** The fields that an email gets from its template, and the version of the template. */
export interface TemplatedEmail {
  template: { id: Id; version: number };
  fields: {
    from?: string;
    reply_to?: string[];
    subject?: string;
    html?: string;
    text?: string;
    unsubscribe?: UnsubscribeSetting;
  };
}

interface ParsedVersion {
  content: Pick<TemplateContent, 'sender' | 'replyTo' | 'variables' | 'unsubscribe'>;
  parts: ParsedContent;
}

const PARSED_MAX = 64;

/** Renders published templates for emails. */
@Injectable()
export class PublishedTemplates {
  private readonly parsed: Cache<ParsedVersion | null>;

  constructor(
    private readonly store: TemplatesStore,
    private readonly turns: BusyTurns,
    clock: Clock,
  ) {
    const nowMs = (): number => clock.monotonicMs();
    // A version never changes, so its cache entry never becomes stale.
    this.parsed = new Cache((key) => this.parse(key), { entriesMax: PARSED_MAX, nowMs, confirmedUntilMs: nowMs });
  }

  /**
   * Returns the rendered fields of an email, or all errors (such as missing variables), with paths below `template`.
   */
  async render(
    environmentId: number,
    { id: text, variables }: TemplateUse,
  ): Promise<TemplatedEmail | { faults: Fault[] }> {
    const found = await this.store.published(environmentId, templateKey(text));
    if (found === null) return fault('template.id', `No such template: ${text}.`);
    const { id, publishedVersion: version } = found;
    if (version === null)
      return fault('template.id', `${text} is not published: call POST /v1/templates/${showId('tpl', id)}/publish.`);
    const parsed = await this.parsed.get(JSON.stringify([environmentId, id, version]));
    // The template was removed after the first lookup.
    if (parsed === null) return fault('template.id', `No such template: ${text}.`);
    const { content, parts } = parsed;
    await this.turns.take();
    const rendered = renderContent(parts, content.variables, variables, 'template.variables');
    if ('faults' in rendered) return rendered;
    if (rendered.missing.length > 0)
      return {
        faults: rendered.missing.map(({ path }) => ({ path: `template.variables.${path}`, message: REQUIRED })),
      };
    const { subject, html, text: plain } = rendered;
    return {
      template: { id, version },
      fields: {
        ...(content.sender !== null && { from: content.sender }),
        ...(content.replyTo.length > 0 && { reply_to: content.replyTo }),
        ...(subject !== null && { subject }),
        ...(html !== null && { html }),
        ...(plain !== null && { text: plain }),
        ...(content.unsubscribe !== null && { unsubscribe: content.unsubscribe }),
      },
    };
  }

  private async parse(key: string): Promise<ParsedVersion | null> {
    const [environmentId, id, version] = JSON.parse(key) as [number, Id, number];
    const content = await this.store.version(environmentId, id, version);
    if (content === null) return null;
    const parts = parseContent(content);
    if ('faults' in parts) throw new Error(`The stored template ${showId('tpl', id)} cannot be parsed.`);
    const { sender, replyTo, variables, unsubscribe } = content;
    return { content: { sender, replyTo, variables, unsubscribe }, parts };
  }
}

const REQUIRED = 'is required: the template uses it, and it has no fallback_value';

const fault = (path: string, message: string): { faults: Fault[] } => ({ faults: [{ path, message }] });
