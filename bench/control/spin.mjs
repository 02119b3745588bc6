/**
 * A control of the bench: loaded into a service (`--import`), it burns BENCH_SPIN_MICROS of CPU for each delivery, so that
 * there is a known difference to find. It looks for the head of a request in what sockets are given to write; nothing in the service knows of it.
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
