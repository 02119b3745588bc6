// Does a fixed piece of work four times a second, in a separate process. The duration of the work shows how busy and
// how slow the machine is.
import { createHmac } from 'node:crypto';
import { fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 250;
const MESSAGES = 1_600;
/** Number of beats (pieces of work) until V8 has compiled the code of a beat. */
const WARM_UP_BEATS = 20;
const PAD = 'x'.repeat(1_000);

const file = path.join(process.argv[2] ?? '.', `pace-${process.pid}`);
const descriptor = openSync(file, 'w');
rmSync(file);

function work() {
  let sum = 0;
  for (let n = 0; n < MESSAGES; n += 1) {
    const text = JSON.stringify({ id: `msg_${n}`, payload: { n, pad: PAD } });
    sum += JSON.parse(text).payload.n + (createHmac('sha256', 'key').update(text).digest()[0] ?? 0);
  }
  writeSync(descriptor, String(sum), 0);
  fdatasyncSync(descriptor);
}

for (let beat = 0; beat < WARM_UP_BEATS; beat += 1) work();
process.on('disconnect', () => process.exit());
for (let dueMs = performance.now(); ; dueMs = performance.now() + EVERY_MS) {
  await sleep(dueMs - performance.now());
  work();
  // Ignores an error, because the test run may have ended. `disconnect` then ends this process.
  process.send?.({ atMs: Date.now(), tookMs: performance.now() - dueMs }, () => undefined);
}
