import { Redis } from 'ioredis';
import { type Config, ConfigError } from '#kernel/config/config.js';

const DIAL_MS_MAX = 5_000;
const REST_MS = 1_000;
/** Maximum wait for Redis, equal to the wait for PostgreSQL at start. */
const WAIT_MS_MAX = 30_000;

/**
 * Waits up to 30 seconds for Redis. Calls `onWait` once if Redis does not respond at first. A running service works
 * without Redis, but a wrong address must be reported at the start.
 *
 * @throws ConfigError with one sentence for the operator.
 */
export async function reachRedis({ redisUrl }: Config, onWait: () => void): Promise<void> {
  if (redisUrl === null) return;
  const sinceMs = performance.now();
  for (let tries = 1; ; tries += 1) {
    const failure = await ping(redisUrl);
    if (failure === null) return;
    const refusal = refusalOf(failure, new URL(redisUrl).host);
    if (refusal !== null) throw new ConfigError(refusal);
    if (performance.now() - sinceMs >= WAIT_MS_MAX) {
      throw new ConfigError(
        `Redis at ${new URL(redisUrl).host} does not answer (${codeOf(failure)}): start it, or correct REDIS_URL.`,
      );
    }
    if (tries === 1) onWait();
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
  }
}

/** Returns why Redis did not respond, or null if it did. */
async function ping(url: string): Promise<Error | null> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: DIAL_MS_MAX,
    commandTimeout: DIAL_MS_MAX,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // The rejection of `connect` does not contain the cause. The `error` event contains it.
  let firstError: Error | null = null;
  redis.on('error', (error: Error) => (firstError ??= error));
  try {
    await redis.connect();
    await redis.ping();
    return null;
  } catch (error) {
    return firstError ?? (error as Error);
  } finally {
    redis.disconnect();
  }
}

/** Returns the message for an error that waiting cannot fix, or null. */
function refusalOf(error: Error, host: string): string | null {
  if (/^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password)|without any password configured/.test(error.message)) {
    return `Redis at ${host} refuses the password: correct it in REDIS_URL.`;
  }
  if (/CERT|ALTNAME|SSL|TLS/.test(codeOf(error)))
    return `The certificate of Redis at ${host} is not trusted, or it does not speak TLS (${codeOf(error)}): correct REDIS_URL.`;
  return /^(ERR|WRONG|NOPERM|DENIED)/.test(error.message)
    ? `Redis at ${host} refuses the connection (${error.message}): correct REDIS_URL.`
    : null;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
