import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage } from './call-thread.js';
import { cpuThrottleFor } from './cpu-throttle.js';
import { type GuestCall, type GuestResult, runGuest } from './guest.js';
import { meterOf, ownThread } from './thread-cpu.js';

// Runs one call at a time, each in a fresh VM of the shared engine.
const { engine, niceness, cells } = workerData as {
  engine: WebAssembly.Module;
  niceness: number;
  cells: Int32Array | null;
};
const thread = ownThread();
const say = (message: ThreadMessage<GuestResult['outcome']>): void => parentPort?.postMessage(message);

// On Linux, pid 0 means the calling thread. On other systems it means the process, whose priority must not change.
if (niceness > 0 && process.platform === 'linux') setPriority(0, niceness);

// Runs code once before the first call, because V8 compiles the engine during the first run.
await runGuest(
  engine,
  { code: 'export default (a) => a', args: ['1'], timeoutMs: 10_000, sliceMs: null, resultBytesMax: 1 },
  meterOf(thread),
);

parentPort?.on('message', (call: GuestCall) => {
  const meter = meterOf(thread);
  say({ kind: 'begun', thread });
  const rests = cpuThrottleFor(cells, thread, meter, call.deadlineMs);
  void runGuest(engine, call, meter, rests === null ? undefined : () => rests.look()).then(({ outcome, isSpoiled }) =>
    say({ kind: 'answered', answer: outcome, cpuMs: meter(), isSpoiled }),
  );
});
say({ kind: 'ready' });
