import { compileJsonPath } from '../conditions/json-path.js';
import type { RequestView } from '../conditions/request-view.js';
import { ExactNumber } from '../exact-json.js';
import { dedupeIdOf } from './classify.js';
import type { Fault } from './fault.js';
import type { Preset } from './preset.js';
import { unpacked } from './unpacked.js';

export interface DeduplicationSettings {
  /** Part of the request from which the id is read. `provider_id` is the id that the preset defines. */
  source: (typeof DEDUPLICATION_SOURCES)[number];
  name?: string;
  path?: string;
  /**
   * Duration in hours, starting with the first request with an id. Further requests in this period with the same id are
   * duplicates.
   */
  window_hours?: number;
}

export const DEDUPLICATION_SOURCES = ['provider_id', 'header', 'body_path'] as const;
/** Default window in hours: a day covers the retry schedules of most providers. */
export const WINDOW_HOURS = 24;

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Pattern of valid ids. Longer ids are not truncated, because two events could then share an id. */
const ID = /^[^\p{Cc}\p{Cs}]{1,1024}$/u;

export interface Deduplication {
  /** Returns the deduplication id. Null if the request has no usable id. Such a request is never a duplicate. */
  idOf(view: RequestView): string | null;
  /** Identifies the part of the request that contains the id. Equal ids from different parts are not duplicates. */
  scope: string;
  windowMs: number;
}

export function deduplicationFaults(
  { source, name, path }: DeduplicationSettings,
  preset: Pick<Preset, 'dedupeId'> | null,
  at: string,
): Fault[] {
  const faults: Fault[] = [];
  if (source === 'provider_id' && (preset === null || preset.dedupeId.length === 0)) {
    faults.push({
      path: `${at}.source`,
      message: 'needs a preset whose provider sends an id that it repeats: name a header or a path of the body instead',
    });
  }
  if (source === 'header') faults.push(...headerFaults(name, `${at}.name`));
  else if (name !== undefined) faults.push({ path: `${at}.name`, message: 'is for header only' });
  if (source === 'body_path') faults.push(...pathFaults(path, `${at}.path`));
  else if (path !== undefined) faults.push({ path: `${at}.path`, message: 'is for body_path only' });
  return faults;
}

export function compileDeduplication(
  settings: DeduplicationSettings,
  preset: Pick<Preset, 'dedupeId'> | null,
): Deduplication {
  const { source, name = '', path = '', window_hours: hours = WINDOW_HOURS } = settings;
  const read = reader(source, { name, path }, preset);
  return {
    idOf: (view) => {
      const id = read(view);
      return id !== undefined && ID.test(id) ? id : null;
    },
    scope: JSON.stringify([source, source === 'header' ? name.toLowerCase() : path]),
    windowMs: hours * 3_600_000,
  };
}

function reader(
  source: DeduplicationSettings['source'],
  { name, path }: { name: string; path: string },
  preset: Pick<Preset, 'dedupeId'> | null,
): (view: RequestView) => string | undefined {
  switch (source) {
    case 'provider_id':
      return ({ request }) => dedupeIdOf(preset, unpacked(request)) ?? undefined;
    case 'header':
      return (view) => view.header(name.toLowerCase());
    case 'body_path': {
      const compiled = compileJsonPath(path);
      if (typeof compiled === 'string') throw new Error(`The JSONPath of the deduplication id ${compiled}.`);
      return (view) => idText(compiled.first(view.fresh()));
    }
  }
}

function headerFaults(name: string | undefined, path: string): Fault[] {
  if (name === undefined) return [{ path, message: 'is required for header' }];
  return HEADER_NAME.test(name) ? [] : [{ path, message: 'must be the name of a header' }];
}

function pathFaults(text: string | undefined, path: string): Fault[] {
  if (text === undefined) return [{ path, message: 'is required for body_path' }];
  const compiled = compileJsonPath(text);
  return typeof compiled === 'string' ? [{ path, message: compiled }] : [];
}

/** Returns the id as text: a string, or a number in its original spelling. Other values are not ids. */
function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof ExactNumber ? String(value) : undefined;
}
