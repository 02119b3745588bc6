import { Injectable } from '@nestjs/common';
import { compilesAtOnce, compileSchema, TOO_MUCH } from '#engine/json-schema/json-schema.js';
import { Clock } from '#kernel/clock.js';
import { Cache, STALENESS_MAX_MS } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import { type Fault, invalid, noSuch } from '#kernel/errors.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import { CompiledSchemas, type KnownSchema } from './compiled-schemas.js';
import { below } from './drafts.js';
import { type EnforcedType, EventTypesStore } from './event-types.store.js';

type ByName = ReadonlyMap<string, EnforcedType>;

interface Known {
  types: ByName;
  /** Time until which `types` may be used: five seconds after they began to load from the database. */
  freshUntilMs: number;
}

const ENVIRONMENTS_MAX = 10_000;

/** Validates payloads against the enforced schemas. Schemas stay compiled until they change. */
@Injectable()
export class EventTypes {
  private readonly cache: Cache<Known>;
  /**
   * Enforced event types as last loaded, by environment. With them, a check of a type that is not enforced needs no
   * promise.
   */
  private readonly known = new Map<number, Known>();
  private readonly compiled = new CompiledSchemas();
  /** Incremented on each change, so that data loaded before the change is not cached. */
  private generation = 0;

  constructor(
    private readonly store: EventTypesStore,
    notifications: Notifications,
    private readonly clock: Clock,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
  ) {
    this.cache = new Cache((id) => this.load(Number(id)), { entriesMax: ENVIRONMENTS_MAX, nowMs: () => clock.nowMs() });
    notifications.on('event_type', (id) => this.drop(id));
  }

  /**
   * Checks a payload. Throws 422 with all schema errors if the event type is enforced and the payload does not match
   * its schema. The paths of the errors start with `payload`.
   *
   * Returns a promise only if a schema must be loaded or is slow to check.
   */
  check(environmentId: number, eventType: string, payload: unknown): void | Promise<void> {
    const known = this.known.get(environmentId);
    if (!known || known.freshUntilMs <= this.clock.nowMs()) return this.checkLater(environmentId, eventType, payload);
    const type = known.types.get(eventType);
    if (!type) return;
    const schema = this.compiled.get(keyOf(type));
    if (!schema) return this.compileAndCheck(environmentId, type, payload);
    return this.hold(environmentId, type, schema, payload);
  }

  /** Throws 404 if the environment has no such event type. */
  async require(environmentId: number, eventType: string): Promise<void> {
    if ((await this.store.find(environmentId, eventType)) === null) throw noSuch('event type');
  }

  private async checkLater(environmentId: number, eventType: string, payload: unknown): Promise<void> {
    const { generation } = this;
    const known = await this.cache.get(String(environmentId));
    if (generation === this.generation) this.remember(environmentId, known);
    const type = known.types.get(eventType);
    if (!type) return;
    const schema = this.compiled.get(keyOf(type));
    if (schema) await this.hold(environmentId, type, schema, payload);
    else await this.compileAndCheck(environmentId, type, payload);
  }

  /** Checks a payload against the current schema, which may have changed since `known` was loaded. */
  private async compileAndCheck(environmentId: number, { name }: EnforcedType, payload: unknown): Promise<void> {
    const row = await this.store.find(environmentId, name);
    if (!row?.enforce || row.schema === null) return;
    const text = JSON.stringify(row.schema);
    const compiled = this.compiled.get(keyOf(row)) ?? (compilesAtOnce(text) ? compileSchema(row.schema) : { text });
    if ('faults' in compiled)
      throw new Error(`The stored schema of event type ${name} does not compile: ${compiled.faults[0]?.message}`);
    const known: KnownSchema =
      'validateAtOnce' in compiled
        ? { text, validateAtOnce: (value) => compiled.validateAtOnce?.(value) ?? null }
        : { text };
    this.compiled.keep(keyOf(row), known, row.bytes);
    await this.hold(environmentId, row, known, payload);
  }

  /** Checks a payload. Throws 422 if it does not match the schema. Slow schemas are validated on another thread. */
  private hold(
    environmentId: number,
    { id }: Pick<EnforcedType, 'id'>,
    schema: KnownSchema,
    payload: unknown,
  ): void | Promise<void> {
    const faults = schema.validateAtOnce?.(payload) ?? null;
    if (faults === null) return this.judged(environmentId, id, schema, payload);
    refuse(faults);
  }

  private async judged(
    environmentId: number,
    endpoint: string,
    { text }: KnownSchema,
    payload: unknown,
  ): Promise<void> {
    const { organizationId } = await this.environments.get(environmentId);
    const value = jsonOf(payload);
    const judged =
      value === null ? null : await this.rules.schema({ organization: organizationId, endpoint }, text, value);
    refuse(judged?.valueFaults ?? [TOO_MUCH]);
  }

  private async load(environmentId: number): Promise<Known> {
    const freshUntilMs = this.clock.nowMs() + STALENESS_MAX_MS;
    return {
      types: new Map((await this.store.enforced(environmentId)).map((type) => [type.name, type])),
      freshUntilMs,
    };
  }

  private remember(environmentId: number, known: Known): void {
    this.known.delete(environmentId);
    this.known.set(environmentId, known);
    if (this.known.size <= ENVIRONMENTS_MAX) return;
    const oldest = this.known.keys().next();
    if (!oldest.done) this.known.delete(oldest.value);
  }

  private drop(environmentId: string): void {
    this.generation += 1;
    if (environmentId === '*') {
      this.cache.clear();
      this.known.clear();
    } else {
      this.cache.drop(environmentId);
      this.known.delete(Number(environmentId));
    }
  }
}

/** Key of a compiled schema. The schema of a version never changes. The id distinguishes types that reuse a name. */
const keyOf = ({ id, version }: Pick<EnforcedType, 'id' | 'version'>): string => `${id}:${version}`;

/** Serializes a payload. Returns null if it is nested too deeply. */
function jsonOf(payload: unknown): string | null {
  try {
    return JSON.stringify(payload);
  } catch {
    return null;
  }
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(below('payload', faults));
}
