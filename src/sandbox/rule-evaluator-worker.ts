import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage } from './call-thread.js';
import { cpuThrottleFor } from './cpu-throttle.js';
import { type EvaluationResult, Evaluator, MeteredAllowance } from './evaluation.js';
import type { EvaluationCall } from './rule-evaluator.js';
import { meterOf, ownThread } from './thread-cpu.js';

const { niceness, cells } = workerData as { niceness: number; cells: Int32Array | null };
const thread = ownThread();
const evaluator = new Evaluator();
const say = (message: ThreadMessage<EvaluationResult | 'overrun'>): void => parentPort?.postMessage(message);

// On Linux, pid 0 means the calling thread. On other systems it means the process, whose priority must not change.
if (niceness > 0 && process.platform === 'linux') setPriority(0, niceness);

parentPort?.on('message', ({ question, timeoutMs, sliceMs, deadlineMs }: EvaluationCall) => {
  const meter = meterOf(thread);
  say({ kind: 'begun', thread });
  const rests = cpuThrottleFor(cells, thread, meter, deadlineMs);
  const usedMs = (): number => {
    rests?.look();
    return meter();
  };
  const { verdict, isCut } = evaluator.answer(question, new MeteredAllowance(usedMs, timeoutMs, sliceMs));
  say({ kind: 'answered', answer: isCut && sliceMs !== null ? 'overrun' : verdict, cpuMs: meter(), isSpoiled: false });
});
say({ kind: 'ready' });
