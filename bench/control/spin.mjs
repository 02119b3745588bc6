/**
 * Wastes BENCH_SPIN_MICROS of CPU time for each delivery. The bench loads this file into a service with `--import`.
 *
 * The bench is checked by whether it detects this known slowdown. The code recognizes a delivery by the head of its
 * request in the bytes written to sockets. The service itself contains no code for this purpose.
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
