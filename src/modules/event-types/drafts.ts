import { isDeepStrictEqual } from 'node:util';
import { jsonFaults } from '#engine/json-schema/json-faults.js';
import type { Fault } from '#kernel/errors.js';
import type { EventTypeEntity } from './event-types.entities.js';

type Json = Record<string, unknown>;

/** What may be said of an event type. */
export interface TypeDraft {
  description: string | null;
  group: string | null;
  schema: Json | null;
  example: Json | null;
  enforce: boolean;
  archived: boolean;
}

/** Looks at a schema, and at an example of it, where nothing else waits: compiling one can take a quarter of a second. */
export type JudgesSchemas = (
  schema: string,
  example: string | null,
) => Promise<{ schemaFaults: Fault[]; valueFaults: Fault[] } | null>;

/** What is wrong with what is said. The schema itself is only looked at when it is new or the example is. */
export async function draftFaults(draft: TypeDraft, before: TypeDraft | null, judge: JudgesSchemas): Promise<Fault[]> {
  const faults =
    draft.enforce && draft.schema === null
      ? [{ path: 'enforce', message: 'needs a schema: there is nothing to enforce' }]
      : [];
  if (before && isDeepStrictEqual([draft.schema, draft.example], [before.schema, before.example])) return faults;
  const example = draft.example === null ? [] : jsonFaults(draft.example);
  if (example.length > 0 || draft.schema === null) return [...faults, ...below('example', example)];
  // What is too deep can't be made a text; of everything else the thread says what is wrong.
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

/** What is wrong at `path`, in paths from where `path` begins. */
export function below(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ path: fault.path === '' ? path : `${path}.${fault.path}`, message: fault.message }));
}

/** The columns that a draft has, without those that say who and when. */
export function columnsOf(draft: TypeDraft): TypeDraft & Pick<EventTypeEntity, 'bytes'> {
  return { ...draft, bytes: bytesOf(draft.schema) + bytesOf(draft.example) };
}

/** Whether the two say the same. The order of keys in a schema says nothing. */
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
