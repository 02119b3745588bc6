import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { below, isSame, type TypeDraft } from './drafts.js';
import { EventTypeKeeper, tooMany, TYPES_MAX } from './event-type-keeper.js';
import type { EventTypeEntity } from './event-types.entities.js';
import { EventTypesStore } from './event-types.store.js';
import { changedIn, DocumentTexts } from './openapi-text.js';
import { type Webhook, webhooksOf } from './openapi-webhooks.js';

export interface ImportOptions {
  /** The parsed document, and the JSON text from which it was parsed. */
  spec: { document: Record<string, unknown>; text: string } | undefined;
  text: string | undefined;
  replaceAll: boolean;
  dryRun: boolean;
  /** Value of `enforce` for all types. Undefined keeps the setting of existing types. */
  enforce: boolean | undefined;
}

export interface Imported {
  created: string[];
  updated: string[];
  unchanged: string[];
  archived: string[];
  /** Numbers in the document that cannot be stored exactly, by path. */
  changedNumbers: Fault[];
}

interface Plan extends Omit<Imported, 'changedNumbers'> {
  rows: EventTypeEntity[];
}

const FAULTS_MAX = 50;

@Injectable()
export class OpenApiImport {
  constructor(
    private readonly store: EventTypesStore,
    private readonly keeper: EventTypeKeeper,
    private readonly texts: DocumentTexts,
    private readonly database: Database,
  ) {}

  /** Imports the whole document or nothing. Throws 422 with all errors, or 409 if there would be too many types. */
  async run(tenant: Tenant, options: ImportOptions): Promise<Imported> {
    const { webhooks, changedNumbers } = await this.read(options);
    const { environmentId } = tenant;
    if (options.dryRun) return { ...(await this.plan(environmentId, webhooks, options)), changedNumbers };
    return this.database.transaction(async () => {
      await this.store.lock(environmentId);
      const { rows, ...imported } = await this.plan(environmentId, webhooks, options);
      await this.keeper.save(environmentId, rows);
      return { ...imported, changedNumbers };
    });
  }

  private async read({ spec, text }: ImportOptions): Promise<{ webhooks: Webhook[]; changedNumbers: Fault[] }> {
    if ((spec === undefined) === (text === undefined)) {
      throw invalid([{ path: 'spec', message: 'give the document as either spec or text' }]);
    }
    const { document, changedNumbers } =
      spec === undefined
        ? await this.texts.read(text ?? '')
        : { document: spec.document, changedNumbers: changedIn(spec.text) };
    const root = spec === undefined ? 'text' : 'spec';
    const found = await webhooksOf(document, root);
    if ('faults' in found) throw invalid(found.faults);
    return { webhooks: found.webhooks, changedNumbers: below(root, changedNumbers) };
  }

  private async plan(environmentId: number, webhooks: readonly Webhook[], options: ImportOptions): Promise<Plan> {
    const known = new Map((await this.store.all(environmentId)).map((row) => [row.name, row]));
    const plan: Plan = { created: [], updated: [], unchanged: [], archived: [], rows: [] };
    const faults: Fault[] = [];
    for (const webhook of webhooks) {
      const before = known.get(webhook.name) ?? null;
      const draft = draftOf(webhook, before, options.enforce);
      faults.push(...below(webhook.path, await this.keeper.faults(environmentId, draft, before)));
      if (faults.length >= FAULTS_MAX) break;
      this.add(plan, environmentId, webhook.name, before, draft);
      known.delete(webhook.name);
      // Yields to the event loop, because a thousand types would block it for too long.
      await setImmediate();
    }
    if (faults.length > 0) throw invalid(faults.slice(0, FAULTS_MAX));
    if (known.size + webhooks.length > TYPES_MAX) throw tooMany();
    if (options.replaceAll) this.archive(plan, [...known.values()]);
    return plan;
  }

  private add(plan: Plan, environmentId: number, name: string, before: EventTypeEntity | null, draft: TypeDraft): void {
    if (before === null) {
      plan.created.push(name);
      plan.rows.push(this.keeper.row(environmentId, name, draft));
    } else if (isSame(before, draft)) {
      plan.unchanged.push(name);
    } else {
      plan.updated.push(name);
      plan.rows.push(this.keeper.changed(before, draft));
    }
  }

  private archive(plan: Plan, missing: readonly EventTypeEntity[]): void {
    for (const row of missing.filter(({ archived }) => !archived)) {
      plan.archived.push(row.name);
      plan.rows.push(this.keeper.changed(row, { ...row, archived: true }));
    }
  }
}

/** Returns the draft for a webhook of the document. The webhook defines all fields except `enforce`. */
function draftOf(
  { description, group, schema, example }: Webhook,
  before: EventTypeEntity | null,
  enforce: boolean | undefined,
): TypeDraft {
  const enforced = enforce === undefined ? (before?.enforce ?? false) : enforce && schema !== null;
  return { description, group, schema, example, enforce: enforced, archived: false };
}
