import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis, Result } from 'ioredis';
import { fullBucket, take, type Taken } from '#engine/token-bucket.js';
import { type Counted, type QuotaVerdict, RateLimiter, tighter } from './rate-limiter.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Calls the script `TAKE`, which `RedisRateLimiter` defines as a command on its connection. */
    posthornTake(keyCount: number, ...keysAndArguments: (string | number)[]): Result<[number, ...string[]], Context>;
  }
}

/**
 * Lua script that takes a token from the bucket of each of KEYS, or from none, by the clock of Redis. It computes like
 * the engine's token bucket. ARGV has `count, periodMs` for each key. Returns whether all buckets had a token, and the
 * number left in each. A key expires when its bucket is full again, because a full bucket need not be stored.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local tokens, allowed = {}, 1
for i = 1, #KEYS do
  local count, period = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local known = redis.call('HMGET', KEYS[i], 't', 'u')
  local left, updated = tonumber(known[1]) or count, tonumber(known[2]) or now
  tokens[i] = math.min(count, left + math.max(0, now - updated) * count / period)
  if tokens[i] < 0.999999 then allowed = 0 end
end
local answer = { allowed }
for i = 1, #KEYS do
  if allowed == 1 then
    tokens[i] = math.max(0, tokens[i] - 1)
    redis.call('HSET', KEYS[i], 't', string.format('%.9f', tokens[i]), 'u', now)
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
  end
  answer[i + 1] = string.format('%.9f', tokens[i])
end
return answer`;

/** Timeout of a Redis command. Longer than a busy process needs to respond, and short enough for clients. */
const COMMAND_TIMEOUT_MS = 200;

/** Time without Redis commands after a failure, so that a hanging Redis does not delay every request. */
const REST_MS = 1_000;

/**
 * Token buckets that all nodes share. During a Redis outage, every request is allowed, and the quota headers show full
 * quotas.
 */
export class RedisRateLimiter extends RateLimiter implements OnApplicationShutdown {
  private restsUntilMs = 0;

  constructor(
    private readonly redis: Redis,
    private readonly nowMs: () => number,
  ) {
    super();
    redis.options.commandTimeout = COMMAND_TIMEOUT_MS;
    redis.defineCommand('posthornTake', { lua: TAKE });
  }

  override count(group: string, buckets: readonly Counted[]): QuotaVerdict | Promise<QuotaVerdict> {
    return this.nowMs() < this.restsUntilMs ? unused(buckets) : this.ask(group, buckets);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  private async ask(group: string, buckets: readonly Counted[]): Promise<QuotaVerdict> {
    const keys = buckets.map(({ id }) => `posthorn:rate:{${group}}:${id}`);
    const quotas = buckets.flatMap(({ quota }) => [quota.count, quota.periodMs]);
    try {
      const [allowed, ...tokens] = await this.redis.posthornTake(keys.length, ...keys, ...quotas);
      return tighter(
        buckets,
        buckets.map((counted, i) => takenOf(counted, allowed === 1, Number(tokens[i]))),
      );
    } catch {
      this.restsUntilMs = this.nowMs() + REST_MS;
      return unused(buckets);
    }
  }
}

function takenOf({ quota }: Counted, allowed: boolean, tokens: number): Taken {
  return take({ tokens, updatedAtMs: 0 }, quota, 0, allowed ? 0 : 1);
}

function unused(buckets: readonly Counted[]): QuotaVerdict {
  return tighter(
    buckets,
    buckets.map(({ quota }) => take(fullBucket(quota, 0), quota, 0, 0)),
  );
}
