import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { type Id, idAfter } from '#kernel/ids.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';

/** An event, and the message of a fan-out that it belongs to. */
export interface MessageMember {
  id: Id;
  messageId: Id | null;
}

/** events_pkey, in each partition: the events of a message are the ids behind its own, and nobody else has one of those. */
const MEMBERS: Statement = {
  name: 'erase_members',
  text: `
    select id, message_id as "messageId" from events
    where environment_id = $1 and id >= $2 and id <= $3 and (id = $2 or message_id = $2)`,
};

/** Headers by name, without their values. */
const NAMES = `
  case when headers is not null then coalesce((select jsonb_object_agg(name, '') from jsonb_object_keys(headers) name), '{}') end`;

/** What a transform said of the body goes with it. */
const ERASED_REQUESTS = `
  update requests
  set body = null, query = '', url = split_part(url, '?', 1), note = null, answer = case when answer ? 'status' then jsonb_build_object('status', answer -> 'status') else answer end, headers = coalesce((
        select jsonb_agg(jsonb_build_array(pair -> 0, '') order by n) from jsonb_array_elements(headers) with ordinality as h(pair, n)), '[]')`;

/** The first time stays. events_pkey and requests_pkey, in each partition. */
const ERASE_EVENT: Statement = {
  name: 'erase_event',
  text: `
    with erased as (
      update events set payload = null, body = null, headers = ${NAMES}, erased_at = now()
      where environment_id = $1 and id = $2 and erased_at is null
    )
    ${ERASED_REQUESTS} where environment_id = $1 and id = $2`,
};

/** requests_duplicate_of_idx, in each partition: what repeated the event holds the same. Without a body it is erased. */
const ERASE_REPEATS: Statement = {
  name: 'erase_repeats',
  text: `${ERASED_REQUESTS} where environment_id = $1 and duplicate_of = $2`,
};

/** messages_pkey, in each partition. */
const ERASE_MESSAGE: Statement = {
  name: 'erase_message',
  text: `
    update messages set payload = null, headers = ${NAMES}, erased_at = now()
    where environment_id = $1 and id = $2 and erased_at is null`,
};

/** events_pkey and messages_pkey. */
const ERASED_AT: Statement = {
  name: 'erase_erased_at',
  text: `
    select coalesce(e.erased_at, m.erased_at) as "erasedAt" from events e
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    where e.environment_id = $1 and e.id = $2`,
};

/** Statements that erase payloads. */
@Injectable()
export class EraseStore {
  constructor(private readonly database: Database) {}

  /** The event of an id, or the events of the message that it is. */
  members(environmentId: number, id: Id): Promise<MessageMember[]> {
    return this.database.queryPrepared(MEMBERS, [environmentId, id, idAfter(id, FAN_OUT_MAX)]);
  }

  async event(environmentId: number, id: Id): Promise<void> {
    // First: an erasure that is broken off in between is asked for again.
    await this.database.queryPrepared(ERASE_REPEATS, [environmentId, id]);
    await this.database.queryPrepared(ERASE_EVENT, [environmentId, id]);
  }

  async message(environmentId: number, id: Id): Promise<void> {
    await this.database.queryPrepared(ERASE_MESSAGE, [environmentId, id]);
  }

  async erasedAt(environmentId: number, id: Id): Promise<Date | null> {
    const [row] = await this.database.queryPrepared<{ erasedAt: Date | null }>(ERASED_AT, [environmentId, id]);
    return row?.erasedAt ?? null;
  }
}
