import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

/**
 * Takes tokens from a target's token bucket: one row that all workers share (primary key of target_permits). Adds the
 * tokens accrued since the last draw, then subtracts and returns the number taken. Tokens accrue by the database's
 * clock, so workers with different clocks share one rate.
 */
const DRAW: Statement = {
  name: 'permits_draw',
  text: `
    with known as (
      insert into target_permits (environment_id, target_id, tokens, updated_at) values ($1, $2, $4::float8,
        clock_timestamp())
      on conflict (environment_id, target_id) do nothing
    ), grown as (
      select environment_id, target_id,
             least($4::float8, tokens + greatest(extract(epoch from clock_timestamp() - updated_at),
               0) * $3::float8) as tokens
      from target_permits where environment_id = $1 and target_id = $2 for update
    )
    update target_permits p set tokens = g.tokens - floor(least(g.tokens, $5::float8)), updated_at = clock_timestamp()
    from grown g where p.environment_id = g.environment_id and p.target_id = g.target_id
    returning floor(least(g.tokens, $5::float8))::int as granted`,
};

@Injectable()
export class RateLimitTokensStore {
  constructor(private readonly database: Database) {}

  /** Takes up to `wanted` tokens and returns the number taken. The first call for a target only creates its row. */
  async draw(
    environmentId: number,
    targetId: Id,
    quota: { perSecond: number; burst: number; wanted: number },
  ): Promise<number> {
    const values = [environmentId, targetId, quota.perSecond, quota.burst, quota.wanted];
    const [row] = await this.database.queryPrepared<{ granted: number }>(DRAW, values);
    return row?.granted ?? 0;
  }
}
