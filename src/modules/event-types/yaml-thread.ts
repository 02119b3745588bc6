import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';

/** What the thread answers: the document as JSON, or why it can't be read. */
export type YamlAnswer = { json: string } | { reason: string };

const ALIASES_MAX = 100;

parentPort?.postMessage(answer(workerData as string));

function answer(text: string): YamlAnswer {
  try {
    // With `uniqueKeys` every key is compared with every other one.
    const document: unknown = parse(text, { maxAliasCount: ALIASES_MAX, uniqueKeys: false, logLevel: 'error' });
    return { json: JSON.stringify(document ?? null) };
  } catch (error) {
    return { reason: error instanceof RangeError ? 'it is too deep' : ((error as Error).message.split('\n', 1)[0] ?? '') };
  }
}
