import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '#sandbox/call-thread.js';
import { meterOf, ownThread } from '#sandbox/thread-cpu.js';
import { sealMessage } from './arc-seal.js';
import type { MailAnswer, MailCall, Read } from './mail-threads.js';
import { attachmentOf, documentOf, parseMessage } from './parse-message.js';
import { verifySignatures } from './signatures.js';

/**
 * Niceness of a parsing thread, which gives it a third of a normal thread's CPU time. A higher value would starve mail
 * under load.
 */
const NICENESS = 5;
/** Message size above which the thread ends after the call, to free several times that amount of memory. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

// Entry point of a worker thread that mail-threads.ts starts. It reads one message at a time, from untrusted senders.
const thread = ownThread();
beModest(thread);
const say = (message: ThreadMessage<MailAnswer>): void => parentPort?.postMessage(message);

parentPort?.on('message', (call: MailCall) => {
  const meter = meterOf(thread);
  say({ kind: 'begun', thread });
  const done = (answer: MailAnswer): void =>
    say({ kind: 'answered', answer, cpuMs: meter(), isSpoiled: call.raw.byteLength > KEPT_BYTES_MAX });
  answerTo(call).then(done, (error: unknown) =>
    done({ kind: 'failed', sentence: error instanceof Error ? error.message : String(error) }),
  );
});
say({ kind: 'ready' });

async function answerTo(call: MailCall): Promise<MailAnswer> {
  const raw = Buffer.from(call.raw.buffer, call.raw.byteOffset, call.raw.byteLength);
  switch (call.kind) {
    case 'signatures':
      return { kind: 'signatures', signatures: await verifySignatures(raw, call.keys) };
    case 'parse':
      return { kind: 'parsed', message: await parseMessage(raw, call) };
    case 'read':
      return {
        kind: 'read',
        signatures: await withFault(verifySignatures(raw, call.keys)),
        message: await withFault(parseMessage(raw)),
      };
    case 'seal':
      return { kind: 'sealed', headers: await sealMessage(raw, call.options) };
    case 'attachment':
      return { kind: 'attachment', attachment: await attachmentOf(raw, call.index) };
    case 'document':
      return { kind: 'document', document: await documentOf(raw) };
  }
}

/**
 * Converts a rejection to a value, so that a failure to read signatures does not discard the contents, or vice versa.
 */
function withFault<A>(reading: Promise<A>): Promise<Read<A>> {
  return reading.catch((error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }));
}

/**
 * Lowers the thread's priority, so that mail does not slow down deliveries. Linux accepts thread ids as process ids.
 */
function beModest(number: string | null): void {
  if (number === null) return;
  try {
    setPriority(Number(number), NICENESS);
  } catch {
    // Without the permission to change its priority, the thread runs at normal priority.
  }
}
