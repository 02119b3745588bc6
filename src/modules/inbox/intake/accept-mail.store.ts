import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { byteaArray, dateArray, intArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { NewMessage } from './message-row.js';

export type NotStored = 'repeated' | 'gone';

/**
 * Inserts a group of messages in one statement and one commit. Checks again that each alias exists (aliases_pkey),
 * because it may have been removed since RCPT.
 *
 * Searches for duplicates in the partitions of the message's expiry day and of the day before
 * (inbox_messages_repeated_idx). If two processes receive the same message at the same instant, both store it.
 * At-least-once delivery allows this.
 *
 * `is true` prevents the use of indexes that begin with the environment. Without statistics, the planner might choose
 * the alias index and scan all of the alias's messages of a day.
 */
const INSERT: Statement = {
  name: 'inbox_accept',
  text: `
    with i as (
      select n, environment_id, id, expires_on, alias_id, reason, envelope_from, string_to_array(envelope_to,
        E'\\n') as envelope_to, client_ip, helo, tls,
             size_bytes, sha256, raw, message_id
      from unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::int[],
                  $12::bytea[], $13::bytea[], $14::text[]) with ordinality
        as i(environment_id, id, expires_on, alias_id, reason, envelope_from, envelope_to, client_ip, helo, tls,
          size_bytes, sha256, raw, message_id, n)
    ), judged as (
      select n, exists (
               select 1 from aliases a where a.environment_id = i.environment_id and a.id = i.alias_id
                 and a.removed_at is null) as is_living,
             message_id is not null and exists (
               select 1 from inbox_messages m
               where (m.environment_id = i.environment_id) is true and m.alias_id = i.alias_id and m.sha256 = i.sha256
                 and m.expires_on between i.expires_on - 1 and i.expires_on
                 and m.envelope_from = i.envelope_from and m.message_id is not null
                   and m.received_at > now() - interval '24 hours') as is_repeated
      from i
    ), s as (
      insert into inbox_messages (environment_id, id, expires_on, alias_id, state, reason, envelope_from, envelope_to,
        client_ip, helo, tls, size_bytes,
                                  sha256, raw, message_id, received_at, tries)
      select i.environment_id, i.id, i.expires_on, i.alias_id, 'received', i.reason, i.envelope_from, i.envelope_to,
        i.client_ip, i.helo, i.tls, i.size_bytes,
             i.sha256, i.raw, i.message_id, now(), 0
      from i join judged j on j.n = i.n where j.is_living and not j.is_repeated
    )
    select n::int - 1 as place, case when is_repeated then 'repeated' else 'gone' end as why from judged
      where is_repeated or not is_living`,
};

@Injectable()
export class AcceptMailStore {
  constructor(private readonly database: Database) {}

  /** Inserts all messages in one commit. Returns the indexes of the messages that were not stored, with the reasons. */
  async insert(messages: readonly NewMessage[]): Promise<ReadonlyMap<number, NotStored>> {
    const column = <K extends keyof NewMessage>(name: K): NewMessage[K][] => messages.map((message) => message[name]);
    const rows = await this.database.queryPrepared<{ place: number; why: NotStored }>(INSERT, [
      intArray(column('environmentId')),
      uuidArray(column('id')),
      dateArray(column('expiresOnDay')),
      uuidArray(column('aliasId')),
      textArray(column('reason')),
      textArray(column('envelopeFrom')),
      textArray(messages.map(({ envelopeTo }) => envelopeTo.join('\n'))),
      textArray(column('clientIp')),
      textArray(column('helo')),
      textArray(column('tls')),
      intArray(column('sizeBytes')),
      byteaArray(column('sha256')),
      byteaArray(column('raw')),
      textArray(column('messageId')),
    ]);
    return new Map(rows.map(({ place, why }) => [place, why]));
  }
}
