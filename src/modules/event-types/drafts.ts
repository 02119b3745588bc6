import { isDeepStrictEqual } from 'node:util';
import { jsonFaults } from '#engine/json-schema/json-faults.js';
import type { Fault } from '#kernel/errors.js';
import type { EventTypeEntity } from './event-types.entities.js';

type Json = Record<string, unknown>;

/** Fields of an event type that a caller can set. */
export interface TypeDraft {
  description: string | null;
  group: string | null;
  schema: Json | null;
  example: Json | null;
  enforce: boolean;
  archived: boolean;
}

/** Validates a schema and its example in a worker thread, because compiling a schema can take a quarter of a second. */
export type JudgesSchemas = (
  schema: string,
  example: string | null,
) => Promise<{ schemaFaults: Fault[]; valueFaults: Fault[] } | null>;

/** Returns the errors in the draft. Does not validate schema and example again if they are the same as in `before`. */
export async function draftFaults(draft: TypeDraft, before: TypeDraft | null, judge: JudgesSchemas): Promise<Fault[]> {
  const faults =
    draft.enforce && draft.schema === null
      ? [{ path: 'enforce', message: 'requires a schema: there is nothing to enforce' }]
      : [];
  if (before && isDeepStrictEqual([draft.schema, draft.example], [before.schema, before.example])) return faults;
  const example = draft.example === null ? [] : jsonFaults(draft.example);
  if (example.length > 0 || draft.schema === null) return [...faults, ...below('example', example)];
  // A schema that is nested too deeply cannot be passed to the worker thread.
  const measures = jsonFaults(draft.schema);
  if (measures.length > 0) return [...faults, ...below('schema', measures)];
  const judged = await judge(
    JSON.stringify(draft.schema),
    draft.example === null ? null : JSON.stringify(draft.example),
  );
  if (judged === null)
    return [...faults, { path: 'schema', message: 'cannot be checked in the time there is: make it simpler' }];
  return [...faults, ...below('schema', judged.schemaFaults), ...below('example', judged.valueFaults)];
}

/** Returns the errors with `path` prepended to their paths. */
export function below(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ path: fault.path === '' ? path : `${path}.${fault.path}`, message: fault.message }));
}

export function columnsOf(draft: TypeDraft): TypeDraft & Pick<EventTypeEntity, 'bytes'> {
  return { ...draft, bytes: bytesOf(draft.schema) + bytesOf(draft.example) };
}

/** Returns whether two drafts are equal. The order of keys in a schema does not matter. */
export function isSame(one: TypeDraft, other: TypeDraft): boolean {
  const of = ({ description, group, schema, example, enforce, archived }: TypeDraft): TypeDraft => ({
    description,
    group,
    schema,
    example,
    enforce,
    archived,
  });
  return isDeepStrictEqual(of(one), of(other));
}

const bytesOf = (json: Json | null): number => (json === null ? 0 : Buffer.byteLength(JSON.stringify(json)));
