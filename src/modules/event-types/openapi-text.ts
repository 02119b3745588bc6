import { Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { isObject } from '#engine/conditions/faults.js';
import { unsafeNumbers } from '#engine/unsafe-numbers.js';
import { type Fault, invalid, unavailable } from '#kernel/errors.js';
import { PASSED_OVER } from './passed-over.js';
import type { YamlAnswer } from './yaml-thread.js';

const TEXT_BYTES_MAX = 1024 * 1024;
/** Aliases can make more of a document than was sent. */
const JSON_LENGTH_MAX = 4 * 1024 * 1024;
/** An honest megabyte needs a second or two; some texts of that size would need minutes, and all of the memory. */
const YAML_MS_MAX = 10_000;
const YAML_HEAP_MB_MAX = 256;
const THREADS_MAX = 2;
/** Documents that wait for a thread; a normal one takes a tenth of a second. */
const WAITING_MAX = 50;

/** Reads documents that come as text: JSON here, YAML on a thread that is ended when it takes too long or too much. */
@Injectable()
export class DocumentTexts {
  private threads = 0;
  private readonly waiting: (() => void)[] = [];

  /** The document, and which of its numbers are kept as others. Throws 422 for a text that is none, and 503 while too many others wait to be read. */
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
      if (answer.json.length > JSON_LENGTH_MAX) throw fault('must have at most 4 MB once its aliases are filled in');
      return { document: JSON.parse(answer.json), changedNumbers: answer.changedNumbers };
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.threads -= 1;
    }
  }

  /** Resolves when a thread may be started; whoever ends hands its place on. */
  private async turn(): Promise<void> {
    if (this.threads < THREADS_MAX) {
      this.threads += 1;
      return;
    }
    if (this.waiting.length >= WAITING_MAX)
      throw unavailable('Other YAML documents are being read. Send it again in a few seconds, or as JSON.', 5);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/** Which numbers of a document in JSON are kept as others, where anything is kept of them. */
export function changedIn(json: string): Fault[] {
  return unsafeNumbers(json, PASSED_OVER);
}

/** Undefined for what is no JSON. */
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
    // Nothing of ours goes in: no environment, no flags, no input.
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: YAML_HEAP_MB_MAX },
  });
  return new Promise<YamlAnswer>((resolve) => {
    const tooMuch: YamlAnswer = { reason: 'it takes too long to read; send it as JSON' };
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
