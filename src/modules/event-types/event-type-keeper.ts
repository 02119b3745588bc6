import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import { columnsOf, draftFaults, isSame, type TypeDraft } from './drafts.js';
import type { EventTypeEntity } from './event-types.entities.js';
import { EventTypesStore } from './event-types.store.js';

export const TYPES_MAX = 1_000;
/** Maximum total size of an environment's enforced schemas. A compiled schema takes far more memory than its text. */
const ENFORCED_BYTES_MAX = 1024 * 1024;

@Injectable()
export class EventTypeKeeper {
  constructor(
    private readonly store: EventTypesStore,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
  ) {}

  /** Creates an event type. Throws 422 for an invalid draft, 409 if the name exists or there are too many types. */
  async create({ environmentId }: Tenant, name: string, draft: TypeDraft): Promise<EventTypeEntity> {
    refuse(await this.faults(environmentId, draft, null));
    return this.database.transaction(async () => {
      await this.store.lock(environmentId);
      if (await this.store.find(environmentId, name)) {
        throw conflict(`An event type ${name} already exists. Change it, or choose another name.`, { name });
      }
      if ((await this.store.count(environmentId)) >= TYPES_MAX) throw tooMany();
      const row = this.row(environmentId, name, draft);
      await this.save(environmentId, [row]);
      return row;
    });
  }

  /**
   * Changes an event type. A new schema creates a version. Throws 404 for an unknown type, 422 for an invalid draft.
   */
  async change({ environmentId }: Tenant, name: string, changes: Partial<TypeDraft>): Promise<EventTypeEntity> {
    return this.database.transaction(async () => {
      await this.store.lock(environmentId);
      const before = await this.store.find(environmentId, name);
      if (before === null) throw noSuch('event type');
      const draft = { ...before, ...given(changes) };
      refuse(await this.faults(environmentId, draft, before));
      if (isSame(draft, before)) return before;
      const row = this.changed(before, draft);
      await this.save(environmentId, [row]);
      return row;
    });
  }

  /** Returns the errors in the draft. Throws 503 if the rule evaluator has no capacity to validate it. */
  async faults(environmentId: number, draft: TypeDraft, before: TypeDraft | null): Promise<Fault[]> {
    const { organizationId } = await this.environments.get(environmentId);
    return draftFaults(draft, before, (schema, example) =>
      this.rules.schema({ organization: organizationId, endpoint: 'event types' }, schema, example),
    );
  }

  /** Removes an event type. Throws 404 if it does not exist. */
  async remove({ environmentId }: Tenant, name: string): Promise<void> {
    if (!(await this.store.remove(environmentId, name))) throw noSuch('event type');
  }

  /**
   * Saves event types. The caller must hold the lock. Throws 409 if the environment's enforced schemas are too large.
   */
  async save(environmentId: number, rows: readonly EventTypeEntity[]): Promise<void> {
    await this.store.save(environmentId, rows);
    if (!rows.some(({ enforce }) => enforce)) return;
    const enforced = await this.store.enforced(environmentId);
    if (enforced.reduce((sum, { bytes }) => sum + bytes, 0) <= ENFORCED_BYTES_MAX) return;
    throw conflict(
      'The schemas of all enforced types must not exceed 1 MB together. Enforce fewer, or make them smaller.',
      {
        limit: ENFORCED_BYTES_MAX,
      },
    );
  }

  row(environmentId: number, name: string, draft: TypeDraft): EventTypeEntity {
    const now = this.clock.now();
    return {
      environmentId,
      name,
      id: this.ids.next(),
      version: 1,
      ...columnsOf(draft),
      createdAt: now,
      updatedAt: now,
    };
  }

  changed(
    before: EventTypeEntity,
    { description, group, schema, example, enforce, archived }: TypeDraft,
  ): EventTypeEntity {
    const version = isDeepStrictEqual(schema, before.schema) ? before.version : before.version + 1;
    const columns = columnsOf({ description, group, schema, example, enforce, archived });
    return { ...before, ...columns, version, updatedAt: this.clock.now() };
  }
}

export const tooMany = (): Error =>
  conflict(`An environment has at most ${TYPES_MAX} event types. Delete one first.`, { limit: TYPES_MAX });

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults);
}

/** Returns the changes without undefined fields, which would overwrite existing values. */
function given(changes: Partial<TypeDraft>): Partial<TypeDraft> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}
