import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { fullBucket, take, type Taken } from '#engine/token-bucket.js';
import { type Counted, type QuotaVerdict, RateLimiter, tighter } from './rate-limiter.js';

/** What the script needs of a connection; `redisConnection` of the kernel makes one. */
type Script = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<[number, ...string[]]>;

/**
 * The engine's token bucket over all KEYS at once, by the clock of Redis: `count, periodMs` per key in ARGV.
 * Answers whether all had a token, and what is left in each. A full bucket needs no key, so it expires when it is one.
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

/** Longer than an answer to a busy process takes, shorter than a client minds. */
const COMMAND_TIMEOUT_MS = 200;

/** After a failure nothing is asked for this long, so that a hanging Redis does not hang every request. */
const REST_MS = 1_000;

/** Buckets that all nodes share. With Redis away it lets through, with headers that say so: nothing used. */
export class RedisRateLimiter extends RateLimiter implements OnApplicationShutdown {
  private readonly take: Script;
  private restsUntilMs = 0;

  constructor(
    private readonly redis: Redis,
    private readonly nowMs: () => number,
  ) {
    super();
    redis.options.commandTimeout = COMMAND_TIMEOUT_MS;
    redis.defineCommand('posthornTake', { lua: TAKE });
    this.take = (redis as unknown as { posthornTake: Script }).posthornTake.bind(redis);
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
      const [allowed, ...tokens] = await this.take(keys.length, ...keys, ...quotas);
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

/** The figures of a bucket that the script has already taken from. */
function takenOf({ quota }: Counted, allowed: boolean, tokens: number): Taken {
  return take({ tokens, updatedAtMs: 0 }, quota, 0, allowed ? 0 : 1);
}

function unused(buckets: readonly Counted[]): QuotaVerdict {
  return tighter(
    buckets,
    buckets.map(({ quota }) => take(fullBucket(quota, 0), quota, 0, 0)),
  );
}
