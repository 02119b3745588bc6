import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

interface NewReply {
  environmentId: number;
  aliasId: Id;
  /** Address of the sender, in lower case and A-labels. */
  sender: string;
  messageId: Id;
  periodMs: number;
}

const HOURLY_MAX = 100;

/**
 * Records an automatic reply. Records nothing if this sender got an automatic reply too recently, or if the alias has
 * sent `HOURLY_MAX` replies within an hour. A repeated call for the same message succeeds again. Uses
 * auto_replies_pkey, and auto_replies_recent_idx to count the replies.
 */
const CLAIM: Statement = {
  name: 'auto_replies_claim',
  text: `
    insert into auto_replies as r (environment_id, alias_id, sender, message_id, replied_at, expires_at)
    select $1::int, $2::uuid, $3::text, $4::uuid, now(), now() + $5::float8 * interval '1 millisecond'
    where (select count(*) from (
      select from auto_replies
        where environment_id = $1::int and alias_id = $2::uuid and replied_at > now() - interval '1 hour'
          and message_id <> $4::uuid
        limit ${HOURLY_MAX}
    ) recent) < ${HOURLY_MAX}
    on conflict (environment_id, alias_id, sender) do update set message_id = excluded.message_id,
      replied_at = excluded.replied_at, expires_at = excluded.expires_at
      where r.expires_at <= now() or r.message_id = excluded.message_id
    returning true as claimed`,
};

/** Uses auto_replies_pkey. */
const IS_RECENT: Statement = {
  name: 'auto_replies_is_recent',
  text: `
    select true as found from auto_replies
    where environment_id = $1 and alias_id = $2 and sender = $3 and expires_at > now()`,
};

/** Uses auto_replies_expires_at_idx. */
const FORGET: Statement = { name: 'auto_replies_forget', text: 'delete from auto_replies where expires_at <= now()' };

@Injectable()
export class AutoRepliesStore {
  /** Maximum number of automatic replies per alias and hour. */
  static readonly HOURLY_MAX = HOURLY_MAX;

  constructor(private readonly database: Database) {}

  /**
   * Records a reply. Returns `recent` if the sender's last recorded reply has not expired, and `limit` if the alias has
   * sent `HOURLY_MAX` replies within an hour.
   */
  async claim({
    environmentId,
    aliasId,
    sender,
    messageId,
    periodMs,
  }: NewReply): Promise<'claimed' | 'recent' | 'limit'> {
    const values = [environmentId, aliasId, sender];
    if ((await this.database.queryPrepared(CLAIM, [...values, messageId, periodMs])).length > 0) return 'claimed';
    return (await this.database.queryPrepared(IS_RECENT, values)).length > 0 ? 'recent' : 'limit';
  }

  /** Deletes expired records of replies. */
  async forget(): Promise<void> {
    await this.database.query(FORGET);
  }
}
