import { parentPort, workerData } from 'node:worker_threads';
import { runGuest, type GuestCall, type GuestResult } from './guest.js';

/** What a thread says: that it has begun, so that its time counts from now on, and then how the call ended. */
export type GuestMessage = 'begun' | GuestResult;

// The entry of a worker thread (thread.ts starts it): one call at a time, each in a fresh VM of the shared engine.
const { engine } = workerData as { engine: WebAssembly.Module };
const say = (message: GuestMessage): void => parentPort?.postMessage(message);

parentPort?.on('message', (call: GuestCall) => {
  say('begun');
  void runGuest(engine, call).then(say);
});
