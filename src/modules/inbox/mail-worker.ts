import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '#sandbox/call-thread.js';
import { meterOf, ownThread } from '#sandbox/thread-cpu.js';
import type { MailAnswer, MailCall } from './mail-threads.js';
import { attachmentOf, parseMessage } from './parse-message.js';
import { verifySignatures } from './signatures.js';

// The entry of a worker thread (mail-threads.ts starts it): one message at a time, which somebody else wrote.
const thread = ownThread();
const say = (message: ThreadMessage<MailAnswer>): void => parentPort?.postMessage(message);

parentPort?.on('message', (call: MailCall) => {
  const meter = meterOf(thread);
  say({ kind: 'begun', thread });
  const done = (answer: MailAnswer): void => say({ kind: 'answered', answer, cpuMs: meter(), isSpoiled: false });
  answerTo(call).then(done, (error: unknown) => done({ kind: 'failed', sentence: error instanceof Error ? error.message : String(error) }));
});
say({ kind: 'ready' });

async function answerTo(call: MailCall): Promise<MailAnswer> {
  const raw = Buffer.from(call.raw.buffer, call.raw.byteOffset, call.raw.byteLength);
  switch (call.kind) {
    case 'signatures': return { kind: 'signatures', signatures: await verifySignatures(raw, call.keys) };
    case 'parse': return { kind: 'parsed', message: await parseMessage(raw) };
    case 'attachment': return { kind: 'attachment', attachment: await attachmentOf(raw, call.index) };
  }
}
