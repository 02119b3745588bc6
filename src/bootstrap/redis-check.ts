import { Redis } from 'ioredis';
import { type Config, ConfigError } from '#kernel/config/config.js';

const DIAL_MS_MAX = 5_000;
const REST_MS = 1_000;
/** As long as a start waits for PostgreSQL. */
const WAIT_MS_MAX = 30_000;

/**
 * Waits until the Redis of REDIS_URL answers, for up to half a minute; `onWait` is told once. While the service runs it
 * does without, but a wrong address must not look like that.
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

/** Why there was no answer, or null when there was one. */
async function ping(url: string): Promise<Error | null> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: DIAL_MS_MAX,
    commandTimeout: DIAL_MS_MAX,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // What `connect` itself rejects with says only that the connection is closed.
  let heard: Error | null = null;
  redis.on('error', (error: Error) => (heard ??= error));
  try {
    await redis.connect();
    await redis.ping();
    return null;
  } catch (error) {
    return heard ?? (error as Error);
  } finally {
    redis.disconnect();
  }
}

/** What waiting does not mend. */
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
