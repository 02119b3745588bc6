import { Injectable } from '@nestjs/common';
import type { Fault } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { PublishedTemplates, type TemplatedEmail, type TemplateUse } from '#modules/templates/published-templates.js';
import { isRecord } from './draft-fields.js';
import { type EmailDraft, type InvalidDraft, readEmail } from './email-draft.js';
import { decidesUnsubscribe } from './unsubscribe-request.js';

/** Parses emails. If an email names a template, takes the content from the template. */
@Injectable()
export class TemplatedDrafts {
  constructor(private readonly templates: PublishedTemplates) {}

  /** Returns the draft, or all errors in it. Times such as `in 5 minutes` are relative to `nowMs`. */
  async read(tenant: Tenant, given: unknown, nowMs: number): Promise<EmailDraft | InvalidDraft> {
    const { template, ...own } = isRecord(given) ? given : {};
    if (template === undefined || template === null) return readEmail(given, nowMs);
    const use = templateUse(template);
    const rendered = 'faults' in use ? use : await this.templates.render(tenant.environmentId, use);
    const { reply_to: replyTo, unsubscribe, ...fields } = 'faults' in rendered ? STAND_IN : rendered.fields;
    const draft = readEmail(
      {
        ...fields,
        ...(!isGiven(own['reply_to']) && !isGiven(own['replyTo']) && { reply_to: replyTo }),
        ...(!decidesUnsubscribe(own) && { unsubscribe }),
        ...Object.fromEntries(Object.entries(own).filter(([, value]) => isGiven(value))),
      },
      nowMs,
    );
    const faults = [
      ...['html', 'text'].filter((name) => isGiven(own[name])).map((path) => ({ path, message: NOT_TOGETHER })),
      ...('faults' in rendered ? rendered.faults : []),
      ...('faults' in draft ? draft.faults : []),
    ];
    if (faults.length > 0 || 'faults' in draft || 'faults' in rendered)
      // The sender of the placeholder is not the sender of the email.
      return { ...draft, faults, from: 'faults' in rendered && !isGiven(own['from']) ? null : draft.from };
    return { ...draft, template: rendered.template };
  }
}

const NOT_TOGETHER = 'must not be given together with template';

/**
 * Placeholder for the content of a template that has errors. With it, errors in the email's other fields are reported
 * as well.
 */
const STAND_IN: TemplatedEmail['fields'] = { from: 'sender@example.com', subject: '', text: '-' };

/** Returns whether a field has a value. Null means absent, as in the other fields of an email. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function templateUse(template: unknown): TemplateUse | { faults: Fault[] } {
  if (!isRecord(template) || typeof template['id'] !== 'string' || template['id'].length > 100)
    return { faults: [{ path: 'template', message: 'must be {id, variables}, with the id or alias of a template' }] };
  const { id, variables } = template;
  if (!isGiven(variables)) return { id, variables: {} };
  return isRecord(variables)
    ? { id, variables }
    : { faults: [{ path: 'template.variables', message: 'must be an object' }] };
}
