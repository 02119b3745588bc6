/**
 * A control of the bench: loaded into a service (`--import`), it burns BENCH_SPIN_MICROS of CPU for each delivery, so that
 * there is a known difference to find. undici says each request it makes on this channel; nothing in the service knows of it.
 */
import { subscribe } from 'node:diagnostics_channel';

const ms = Number(process.env.BENCH_SPIN_MICROS) / 1000;

subscribe('undici:request:create', () => {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
});
