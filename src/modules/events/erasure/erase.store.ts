import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { type Id, idAfter } from '#kernel/ids.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';

/** An event to erase. `messageId` is set if the event belongs to a message that was fanned out. */
export interface MessageMember {
  id: Id;
  messageId: Id | null;
}

/**
 * Finds the event with the given id, or the events of the message with that id. The ids of a message's events follow
 * the message's id, which limits the range to search. Uses the index events_pkey in each partition.
 */
const MEMBERS: Statement = {
  name: 'erase_members',
  text: `
    select id, message_id as "messageId" from events
    where environment_id = $1 and id >= $2 and id <= $3 and (id = $2 or message_id = $2)`,
};

/** SQL expression for the headers with unchanged names and empty values. */
const NAMES = `
  case when headers is not null then coalesce((select jsonb_object_agg(name, '') from jsonb_object_keys(headers) name), '{}') end`;

/** Erases received requests with their notes and the output of the transform, because both may quote the body. */
const ERASED_REQUESTS = `
  update requests
  set body = null, query = '', url = split_part(url, '?', 1), note = null, logs = null, answer = case when answer ? 'status'
    then jsonb_build_object('status', answer -> 'status') else answer end, headers = coalesce((
        select jsonb_agg(jsonb_build_array(pair -> 0, '') order by n)
          from jsonb_array_elements(headers) with ordinality as h(pair, n)), '[]')`;

/** Erases an event. Keeps the time of the first erasure. Uses events_pkey and requests_pkey in each partition. */
const ERASE_EVENT: Statement = {
  name: 'erase_event',
  text: `
    with erased as (
      update events set payload = null, body = null, headers = ${NAMES}, erased_at = now(),
        query = case when query is not null then '' end
      where environment_id = $1 and id = $2 and erased_at is null
    )
    ${ERASED_REQUESTS} where environment_id = $1 and id = $2`,
};

/**
 * Erases duplicates of a request. A duplicate without a body counts as already erased. Uses the index
 * requests_duplicate_of_idx in each partition.
 */
const ERASE_DUPLICATES: Statement = {
  name: 'erase_repeats',
  text: `${ERASED_REQUESTS} where environment_id = $1 and duplicate_of = $2`,
};

/** Uses the index messages_pkey in each partition. */
const ERASE_MESSAGE: Statement = {
  name: 'erase_message',
  text: `
    update messages set payload = null, headers = ${NAMES}, erased_at = now()
    where environment_id = $1 and id = $2 and erased_at is null`,
};

/** Uses the indexes events_pkey and messages_pkey. */
const ERASED_AT: Statement = {
  name: 'erase_erased_at',
  text: `
    select coalesce(e.erased_at, m.erased_at) as "erasedAt" from events e
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    where e.environment_id = $1 and e.id = $2`,
};

@Injectable()
export class EraseStore {
  constructor(private readonly database: Database) {}

  /** Returns the event with this id, or the events of the message with this id. */
  members(environmentId: number, id: Id): Promise<MessageMember[]> {
    return this.database.queryPrepared(MEMBERS, [environmentId, id, idAfter(id, FAN_OUT_MAX)]);
  }

  async event(environmentId: number, id: Id): Promise<void> {
    // Erases duplicates first. If the process stops before the next statement, the event is not marked as erased. The
    // erasure can then be requested again.
    await this.database.queryPrepared(ERASE_DUPLICATES, [environmentId, id]);
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
