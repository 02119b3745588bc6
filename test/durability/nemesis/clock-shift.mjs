// Preloaded into a process whose wall clock is to be wrong: `Date` and `Date.now` are off by the milliseconds that the
// file CLOCK_SHIFT_FILE holds, from the start on and whenever it changes. Monotonic clocks and timers stay right.
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
    // For whoever moved the clock: from now on it is so.
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
