/**
 * Uses BENCH_SPIN_MICROS microseconds of CPU time per delivery, to check that the bench detects a slower service.
 * Loaded into a service with `--import`.
 */
import { Socket } from 'node:net';

const ms = Number(process.env.BENCH_SPIN_MICROS) / 1000;
const { write } = Socket.prototype;

Socket.prototype.write = function (/** @type {any[]} */ ...given) {
  if (typeof given[0] === 'string' && given[0].startsWith('POST ')) {
    const startedAt = performance.now();
    while (performance.now() - startedAt < ms);
  }
  return Reflect.apply(write, this, given);
};
