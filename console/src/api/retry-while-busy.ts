import { Fault } from './fault';

/** Maximum number of times that one API call is tried. */
const TRIES_MAX = 6;
const WAIT_MS = 2_000;

/** Returns the result of a call. While the service is busy or unreachable, waits and retries. */
export async function retryWhileBusy<T>(
  call: () => Promise<T>,
  waits: (seconds: number) => void,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isPassing = error instanceof Fault && (error.status === 429 || error.status === 0 || error.status >= 500);
      if (!isPassing || tries >= TRIES_MAX) throw error;
      const ms = error.retryAfterSeconds === null ? WAIT_MS * tries : error.retryAfterSeconds * 1000;
      waits(Math.ceil(ms / 1000));
      await pause(ms, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
