import { parentPort, workerData } from 'node:worker_threads';
import { type Document, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { Fault } from '#engine/conditions/faults.js';
import { isDecimal } from '#engine/decimals.js';
import { describeUnsafe, isUnsafe } from '#engine/unsafe-numbers.js';
import { PASSED_OVER } from './passed-over.js';

/** `changedNumbers` lists numbers that cannot be stored exactly. `reason` explains why parsing failed. */
export type YamlAnswer = { json: string; changedNumbers: Fault[] } | { reason: string };

const ALIASES_MAX = 100;
const CHANGED_MAX = 20;

parentPort?.postMessage(answer(workerData as string));

function answer(text: string): YamlAnswer {
  try {
    // `uniqueKeys` is off, because the search for duplicate keys takes quadratic time.
    const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error' });
    if (document.errors[0] !== undefined) throw document.errors[0];
    return {
      json: JSON.stringify(document.toJS({ maxAliasCount: ALIASES_MAX }) ?? null),
      changedNumbers: changedIn(document),
    };
  } catch (error) {
    return {
      reason:
        error instanceof RangeError ? 'it is nested too deeply' : ((error as Error).message.split('\n', 1)[0] ?? ''),
    };
  }
}

function changedIn(document: Document): Fault[] {
  const changed: Fault[] = [];
  visit(document, {
    Pair: (_, { key }, path) => (path.length === 2 && PASSED_OVER.has(nameOf(key)) ? visit.SKIP : undefined),
    Scalar: (key, { value, source = '' }, path) => {
      if (key === 'key' || typeof value !== 'number' || !isDecimal(source) || !isUnsafe(source)) return undefined;
      changed.push({ path: placeOf(key, path), message: describeUnsafe(source) });
      return changed.length < CHANGED_MAX ? undefined : visit.BREAK;
    },
  });
  return changed;
}

/** Returns the path of a value as names and indexes joined by dots. `key` is the value's key in its parent node. */
function placeOf(key: number | string | null, path: readonly unknown[]): string {
  return path
    .flatMap((step, at) => {
      if (isPair(step)) return [nameOf(step.key)];
      return isSeq(step) ? [at + 1 < path.length ? step.items.indexOf(path[at + 1]) : key] : [];
    })
    .join('.')
    .slice(0, 500);
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}
