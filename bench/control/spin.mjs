/**
 * Slows the service down by a known amount, to check that the bench detects the slowdown: uses BENCH_SPIN_MICROS
 * microseconds of CPU time for each delivery. The bench loads this file into a service with `--import`.
 *
 * The code recognizes a delivery by the start of its request in the bytes that are written to sockets. The service
 * itself contains no code for this purpose.
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
