import { Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { isObject } from '#engine/conditions/faults.js';
import { unsafeNumbers } from '#engine/unsafe-numbers.js';
import { type Fault, invalid, unavailable } from '#kernel/errors.js';
import { PASSED_OVER } from './passed-over.js';
import type { YamlAnswer } from './yaml-thread.js';

const TEXT_BYTES_MAX = 1024 * 1024;
/** Maximum length of a document as JSON. YAML aliases can make it much longer than the YAML text. */
const JSON_LENGTH_MAX = 4 * 1024 * 1024;
/**
 * Limits for YAML. A normal document of 1 MB takes one or two seconds. A malicious one could use all time and memory.
 */
const YAML_MS_MAX = 10_000;
const YAML_HEAP_MB_MAX = 256;
const THREADS_MAX = 2;
/** Maximum number of documents that wait for a thread. A typical document takes a tenth of a second. */
const WAITING_MAX = 50;

/** Parses JSON on the main thread. Parses YAML on a thread that is terminated if it exceeds a time or memory limit. */
@Injectable()
export class DocumentTexts {
  private threads = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * Parses a document. Throws 422 if it is invalid, and 503 if too many documents wait. `changedNumbers` lists numbers
   * that cannot be stored exactly.
   */
  async read(text: string): Promise<{ document: Record<string, unknown>; changedNumbers: Fault[] }> {
    if (Buffer.byteLength(text) > TEXT_BYTES_MAX) throw fault('must have at most 1 MB');
    const value = json(text);
    const { document, changedNumbers } =
      value === undefined ? await this.yaml(text) : { document: value, changedNumbers: changedIn(text) };
    if (!isObject(document)) throw fault('must be an OpenAPI document');
    return { document, changedNumbers };
  }

  private async yaml(text: string): Promise<{ document: unknown; changedNumbers: Fault[] }> {
    await this.turn();
    try {
      const answer = await readOnThread(text);
      if ('reason' in answer) throw fault(`must be JSON or YAML: ${answer.reason.slice(0, 200)}`);
      if (answer.json.length > JSON_LENGTH_MAX) throw fault('must have at most 4 MB after its aliases are expanded');
      return { document: JSON.parse(answer.json), changedNumbers: answer.changedNumbers };
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.threads -= 1;
    }
  }

  /** Resolves when the caller may start a thread. A finished thread passes its slot to the next waiting caller. */
  private async turn(): Promise<void> {
    if (this.threads < THREADS_MAX) {
      this.threads += 1;
      return;
    }
    if (this.waiting.length >= WAITING_MAX)
      throw unavailable('Other YAML documents are being parsed. Send it again in a few seconds, or as JSON.', 5);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/** Returns the numbers that cannot be stored exactly. Ignores parts of the document that are not imported. */
export function changedIn(json: string): Fault[] {
  return unsafeNumbers(json, PASSED_OVER);
}

/** Returns undefined for invalid JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readOnThread(text: string): Promise<YamlAnswer> {
  const worker = new Worker(new URL('./yaml-thread.js', import.meta.url), {
    workerData: text,
    // Isolates the thread from the environment variables and flags of this process.
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: YAML_HEAP_MB_MAX },
  });
  return new Promise<YamlAnswer>((resolve) => {
    const tooMuch: YamlAnswer = { reason: 'parsing it takes too long; send it as JSON' };
    const timer = setTimeout(() => resolve(tooMuch), YAML_MS_MAX);
    worker.once('message', (answer: YamlAnswer) => resolve(answer));
    worker.once('error', () => resolve(tooMuch));
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve(tooMuch);
    });
  }).finally(() => worker.terminate());
}

const fault = (message: string): Error => invalid([{ path: 'text', message }]);
