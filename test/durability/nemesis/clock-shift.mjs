// Preloaded into a process to shift `Date` by the milliseconds in the file CLOCK_SHIFT_FILE. Monotonic clocks and
// timers stay correct.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 50;
const file = process.env.CLOCK_SHIFT_FILE;

if (file) {
  const TrueDate = Date;
  let shiftMs = 0;
  const look = () => {
    const read = Number(readFileSync(file, 'utf8').trim() || shiftMs);
    if (read === shiftMs) return;
    shiftMs = read;
    // Confirms to the test that the shift is now in effect.
    if (isMainThread) writeFileSync(`${file}.seen`, String(shiftMs));
  };
  const now = () => TrueDate.now() + shiftMs;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new TrueDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  look();
  setInterval(look, LOOK_MS).unref();
}
