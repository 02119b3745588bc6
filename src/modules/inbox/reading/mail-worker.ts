import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '#sandbox/call-thread.js';
import { meterOf, ownThread } from '#sandbox/thread-cpu.js';
import type { MailAnswer, MailCall, Read } from './mail-threads.js';
import { attachmentOf, documentOf, parseMessage } from './parse-message.js';
import { verifySignatures } from './signatures.js';

/**
 * As `nice` has it: a third of the time of a thread that wants all. With less a busy machine would leave mail nothing.
 */
const NICENESS = 5;
/**
 * Behind a larger message a thread ends: what it took, some times the message, goes back to the system only with the
 * thread.
 */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

// The entry of a worker thread (mail-threads.ts starts it): one message at a time, which somebody else wrote.
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
      return { kind: 'parsed', message: await parseMessage(raw) };
    case 'read':
      return {
        kind: 'read',
        signatures: await told(verifySignatures(raw, call.keys)),
        message: await told(parseMessage(raw)),
      };
    case 'attachment':
      return { kind: 'attachment', attachment: await attachmentOf(raw, call.index) };
    case 'document':
      return { kind: 'document', document: await documentOf(raw) };
  }
}

/** What the one does to its reader is no fault of the other. */
function told<A>(reading: Promise<A>): Promise<Read<A>> {
  return reading.catch((error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }));
}

/**
 * Mail waits where the processor does not do for all: of the threads of this process it has what the others leave.
 * Linux knows threads by their number.
 */
function beModest(number: string | null): void {
  if (number === null) return;
  try {
    setPriority(Number(number), NICENESS);
  } catch {
    // Where that is not allowed mail is read all the same.
  }
}
