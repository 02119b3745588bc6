import { Injectable } from '@nestjs/common';
import { dateOf } from '#engine/expiry-day.js';
import type { AutoReplySettings, NoReplyReason } from '#engine/mail/auto-reply.js';
import type { Auth, QuarantineReason, Verdicts } from '#engine/mail/mail-verdicts.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, intArray, jsonbArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { StoredDetail } from '../messages/message-detail.js';

/** A claimed message, with the current settings of its alias. */
export interface WaitingMessage {
  environmentId: number;
  id: Id;
  /** Day of the message's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  expiresOnDay: number;
  aliasId: Id;
  /** Fencing token of this claim. A write with another token has no effect. */
  claim: Id;
  reason: QuarantineReason | null;
  envelopeFrom: string;
  envelopeTo: string[];
  clientIp: string;
  helo: string;
  sizeBytes: number;
  messageId: string | null;
  receivedAt: Date;
  /** Number of tries, including this claim. */
  tries: number;
  address: string;
  destinationIds: Id[];
  allowedSenders: string[];
  maxSizeBytes: number | null;
  forwardTo: string[];
  autoReply: AutoReplySettings | null;
  linkTtlSeconds: number | null;
  /** Milliseconds since DNS first failed to answer a query for this message. Null if it never failed. */
  unansweredForMs: number | null;
  /**
   * Decision on the message's delivery, stored by an earlier claim. The message's event may not exist yet. Null if
   * there is no decision.
   */
  decided: Decided | null;
  /** Bytes of a message that must still be parsed. Null for a large message, whose bytes are in a blob. */
  raw: Buffer | null;
}

export interface Decided extends Omit<Verdicts, 'arc' | 'dkimDomains'> {
  auth: Auth;
  reason: QuarantineReason | null;
  /** Address of the single author, without the name. Null if there is no single author. */
  fromAddress: string | null;
  detail: StoredDetail;
  /** Sent email that the message replies to, or null. */
  inReplyToEmailId: Id | null;
  /**
   * Reasons not to forward or reply, found in the headers. Not stored, because the stored decision already includes
   * them.
   */
  obstacles?: { forward: string | null; reply: NoReplyReason | null };
}

export interface Claimant {
  claim: Id;
  limit: number;
  /**
   * Maximum number of one environment's messages that the worker may hold, including those that it already processes.
   */
  perEnvironmentMax: number;
  held: ReadonlyMap<number, number>;
  /** Maximum total bytes of large messages. A worker without messages may claim a single message above this limit. */
  bytesMax: number;
  /** Expiry days to search, at most `DAYS_MAX`. Null for all days. */
  days: readonly number[] | null;
}

/** A write of the mail pipeline: decisions on messages, and messages to mark as complete because their events exist. */
export interface Progress {
  decided: readonly { message: WaitingMessage; decided: Decided }[];
  settled: readonly WaitingMessage[];
}

/** Size above which a message counts toward `bytesMax`, because it is loaded from a blob into memory. */
export const LARGE_BYTES = 256 * 1024;

export const DAYS_MAX = 4;

/**
 * Lease of a claim, slightly longer than the lease of a delivery. After a crash, other workers claim the messages
 * within seconds. A slow worker renews its leases.
 */
const LEASE = `interval '12 seconds'`;

/**
 * Claims messages fairly: the oldest message of each environment comes before any environment's second message.
 *
 * Uses inbox_messages_received_idx, with one index scan per environment with waiting messages. Locks only the selected
 * rows, regardless of how many messages wait. Skips rows that another process claimed first, but counts them in
 * `picked`.
 *
 * Without `ofDays`, the plan opens every partition six times, which takes milliseconds even if no message waits.
 * `ofDays` prunes the partitions to the given days. Each day is a single parameter that is compared for equality, so
 * that PostgreSQL prunes before it opens a table. It cannot prune by array elements or joined columns. For a range of
 * days, the planner would expect almost no rows and scan whole tables.
 */
const claimOf = (name: string, ofDays: string): Statement => ({
  name,
  text: `
    with recursive waiting as (
      (select m.environment_id from inbox_messages m where m.state = 'received' ${ofDays} order by m.environment_id
        limit 1)
      union all
      select (select m.environment_id from inbox_messages m where m.state = 'received'
        and m.environment_id > w.environment_id ${ofDays} order by m.environment_id limit 1)
      from waiting w where w.environment_id is not null
    ), free as materialized (
      select c.environment_id, c.id, c.expires_on, c.size_bytes, row_number() over (partition by c.environment_id
        order by c.id) as place
      from waiting w cross join lateral (
        select m.environment_id, m.id, m.expires_on, m.size_bytes from inbox_messages m
        where m.environment_id = w.environment_id and m.state = 'received' and (m.claimed_until is null
          or m.claimed_until <= now()) ${ofDays}
        order by m.id
        limit least($2::int, greatest(0, $3::int - coalesce((select h.count from unnest($4::int[],
          $5::int[]) h(environment_id, count) where h.environment_id = w.environment_id), 0)))
      ) c where w.environment_id is not null
    ), picked as materialized (
      select * from (
        select f.*, sum(case when f.size_bytes > ${LARGE_BYTES} then f.size_bytes else 0
          end::bigint) over (order by f.place, f.id rows unbounded preceding) as bytes
        from (select * from free order by place, id limit $2::int) f
      ) f where f.size_bytes <= ${LARGE_BYTES} or f.bytes <= $6::bigint or (f.bytes = f.size_bytes and $4::int[] = '{}')
    ), locked as materialized (
      select l.* from picked p cross join lateral (
        select m.environment_id, m.id, m.expires_on from inbox_messages m
        where m.environment_id = p.environment_id and m.id = p.id and m.expires_on = p.expires_on
          and m.state = 'received' and (m.claimed_until is null or m.claimed_until <= now()) ${ofDays}
        for update of m skip locked
      ) l
    ), claimed as (
      update inbox_messages m set claimed_by = $1::uuid, claimed_until = now() + ${LEASE}, tries = least(m.tries + 1,
        32000)
      where m.environment_id = any(array(select environment_id from locked)) and m.id = any(array(select id
        from locked))
        and m.expires_on between (select min(expires_on) from locked) and (select max(expires_on) from locked) ${ofDays}
      returning m.*
    )
    select n.picked, c.environment_id as "environmentId", c.id, c.expires_on::text as "expiresOn",
      (c.expires_on - date '1970-01-01')::int as "expiresOnDay",
           c.alias_id as "aliasId", c.claimed_by as claim, c.reason, c.envelope_from as "envelopeFrom",
             c.envelope_to as "envelopeTo", c.client_ip as "clientIp",
           c.helo, c.size_bytes as "sizeBytes", c.message_id as "messageId", c.received_at as "receivedAt", c.tries,
           (extract(epoch from now() - c.unanswered_since) * 1000)::float8 as "unansweredForMs",
           c.from_address as "fromAddress", c.auth, c.spf, c.dkim, c.dmarc, c.dmarc_policy as "dmarcPolicy", c.spam,
             c.virus, c.detail, c.in_reply_to_email_id as "inReplyToEmailId",
           case when c.detail is null then c.raw end as raw,
           coalesce(a.address, '') as address, coalesce(a.destination_ids, '{}') as "destinationIds",
           coalesce(a.allowed_senders, '{}') as "allowedSenders", a.max_size_bytes as "maxSizeBytes",
           coalesce(a.forward_to, '{}') as "forwardTo", a.auto_reply as "autoReply",
             a.link_ttl_seconds as "linkTtlSeconds"
    from (select count(*)::int as picked from picked) n left join claimed c on true
    left join aliases a on a.environment_id = c.environment_id and a.id = c.alias_id`,
});
const CLAIM = claimOf('inbox_claim', '');
const CLAIM_OF_DAYS = claimOf('inbox_claim_of_days', 'and m.expires_on in ($7::date, $8::date, $9::date, $10::date)');

/** Uses inbox_messages_received_idx of each partition, until a partition has a matching row. */
const ANY_WAITING = `from inbox_messages where state = 'received' and (claimed_until is null or claimed_until <= now()) limit 1`;
const IS_ANY_WAITING: Statement = { name: 'inbox_is_any_waiting', text: `select true as found ${ANY_WAITING}` };
export const WAITING_IN_MS = `select 0 ${ANY_WAITING}`;

/**
 * Stores decisions on the delivery of some messages, and marks other messages as complete, in one commit. Uses
 * inbox_messages_pkey. The part `d` stores a decision only if this worker still holds the claim and the message was not
 * erased. The part `s` completes messages whose event exists, which any worker may do. `ofDays` limits the statement to
 * the partitions of a few days (see `claimOf`).
 */
const progressOf = (name: string, ofDays: string): Statement => ({
  name,
  text: `
    with d as (
      update inbox_messages m set claimed_until = now() + ${LEASE}, reason = i.reason, from_address = i.from_address,
        subject = i.subject, auth = i.auth, in_reply_to_email_id = i.in_reply_to_email_id,
        spf = i.spf, dkim = i.dkim, dmarc = i.dmarc, dmarc_policy = i.dmarc_policy, spam = i.spam, virus = i.virus,
          detail = i.detail
      from unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[],
                  $13::text[], $14::text[], $15::jsonb[], $16::uuid[])
        as i(environment_id, id, expires_on, claim, reason, from_address, subject, auth, spf, dkim, dmarc,
          dmarc_policy, spam, virus, detail, in_reply_to_email_id)
      where m.environment_id = i.environment_id and m.id = i.id and m.expires_on = i.expires_on
        and m.claimed_by = i.claim and m.state = 'received' and m.erased_at is null ${ofDays}
      returning m.id
    ), s as (
      update inbox_messages m set state = case when m.reason is null then 'processed' else 'quarantined' end,
        event_id = m.id, processed_at = now(),
        claimed_by = null, claimed_until = null
      from unnest($17::int[], $18::uuid[], $19::date[]) as i(environment_id, id, expires_on)
      where m.environment_id = i.environment_id and m.id = i.id and m.expires_on = i.expires_on
        and m.state = 'received' ${ofDays}
    )
    select id from d`,
});
const PROGRESS = progressOf('inbox_progress', '');
const PROGRESS_OF_DAYS = progressOf(
  'inbox_progress_of_days',
  'and m.expires_on in ($20::date, $21::date, $22::date, $23::date)',
);

/** Uses inbox_messages_pkey. Renews only claims that the worker still holds. */
const RENEW: Statement = {
  name: 'inbox_renew',
  text: `
    update inbox_messages m set claimed_until = now() + ${LEASE}
    from unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[]) as i(environment_id, id, expires_on, claim)
    where m.environment_id = i.environment_id and m.id = i.id and m.expires_on = i.expires_on
      and m.claimed_by = i.claim and m.state = 'received'`,
};

/** Uses inbox_messages_pkey. Decrements the number of tries if this try does not count as failed. */
const PUT_BACK: Statement = {
  name: 'inbox_put_back',
  text: `
    update inbox_messages set claimed_by = null, claimed_until = now() + $5::float8 * interval '1 millisecond',
      tries = tries - $6::int
    where environment_id = $1 and id = $2 and expires_on = $3::date and claimed_by = $4`,
};

/**
 * Maximum number of messages of one environment that wait for name servers. It is limited, because each claim must skip
 * all of them.
 */
const AWAITING_DNS_MAX = 1_000;

/**
 * Delays a message until name servers may have recovered. Does nothing if `AWAITING_DNS_MAX` messages of its
 * environment already wait for name servers. Uses inbox_messages_pkey, and inbox_messages_received_idx to count these
 * messages.
 */
const AWAIT_DNS: Statement = {
  name: 'inbox_await_dns',
  text: `
    update inbox_messages m set claimed_by = null, claimed_until = now() + $5::float8 * interval '1 millisecond',
      tries = m.tries - 1,
      unanswered_since = coalesce(m.unanswered_since, now())
    where m.environment_id = $1 and m.id = $2 and m.expires_on = $3::date and m.claimed_by = $4 and m.state = 'received'
      and (m.unanswered_since is not null or (
        select count(*) filter (where oldest.unanswered_since is not null) from (
          select o.unanswered_since from inbox_messages o where o.environment_id = $1 and o.state = 'received'
            order by o.id limit ${2 * AWAITING_DNS_MAX}
        ) oldest) < ${AWAITING_DNS_MAX})
    returning 1 as waits`,
};

/** Uses events_pkey of a single partition, because the event expires on the same day as its message. */
const HAS_EVENT: Statement = {
  name: 'inbox_has_event',
  text: 'select true as found from events where environment_id = $1 and id = $2 and expires_on = $3::date',
};

/** Uses inbox_messages_received_idx, once for each environment with waiting messages. */
const OLDEST: Statement = {
  name: 'inbox_oldest',
  text: `select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as seconds, count(*)::int as count
         from (select received_at from inbox_messages where state = 'received' order by environment_id, id
           limit 10000) waiting`,
};

type ClaimedRow = Omit<WaitingMessage, 'decided'> & {
  [K in keyof Omit<Decided, 'detail' | 'reason'>]: Decided[K] | null;
} & { detail: StoredDetail | null };
/** A row without an id means that nothing was claimed. */
type ClaimRow = ClaimedRow & { picked: number; id: Id | null };

@Injectable()
export class WaitingMessagesStore {
  constructor(private readonly database: Database) {}

  /**
   * Claims messages fairly across environments. If `raced` is true, other processes claimed some of the selected
   * messages first, so more may be waiting.
   */
  async claim({
    claim,
    limit,
    perEnvironmentMax,
    held,
    bytesMax,
    days,
  }: Claimant): Promise<{ messages: WaitingMessage[]; raced: boolean }> {
    const values = [claim, limit, perEnvironmentMax, [...held.keys()], [...held.values()], bytesMax];
    const rows = await (days === null
      ? this.database.queryPrepared<ClaimRow>(CLAIM, values)
      : this.database.queryPrepared<ClaimRow>(CLAIM_OF_DAYS, [...values, ...daysOf(days)]));
    const messages = rows
      .filter((row) => row.id !== null)
      .map(
        ({
          picked: _picked,
          fromAddress,
          auth,
          spf,
          dkim,
          dmarc,
          dmarcPolicy,
          spam,
          virus,
          detail,
          inReplyToEmailId,
          ...row
        }): WaitingMessage => ({
          ...row,
          decided:
            detail === null
              ? null
              : ({
                  fromAddress,
                  auth,
                  spf,
                  dkim,
                  dmarc,
                  dmarcPolicy,
                  spam,
                  virus,
                  detail,
                  inReplyToEmailId,
                  reason: row.reason,
                } as Decided),
        }),
      );
    return { messages, raced: messages.length < (rows[0]?.picked ?? 0) };
  }

  /** Returns whether a claim would find a message. This query costs a fifth of a claim and locks no row. */
  async isAnyWaiting(): Promise<boolean> {
    return (await this.database.queryPrepared(IS_ANY_WAITING, [])).length > 0;
  }

  /**
   * Stores decisions on the delivery of some messages, and marks other messages as complete, in one commit. Returns the
   * messages whose decision was stored. A decision is not stored if this worker has lost its claim on the message. A
   * stored decision is final, even if the worker crashes. Completed messages become `processed` or `quarantined`.
   */
  async progress({ decided, settled }: Progress): Promise<ReadonlySet<Id>> {
    const of = <T>(read: (message: WaitingMessage, decided: Decided) => T): T[] =>
      decided.map((each) => read(each.message, each.decided));
    const values = [
      intArray(of((m) => m.environmentId)),
      uuidArray(of((m) => m.id)),
      dateArray(of((m) => m.expiresOnDay)),
      uuidArray(of((m) => m.claim)),
      textArray(of((_, d) => d.reason)),
      textArray(of((_, d) => d.fromAddress)),
      textArray(of((_, d) => d.detail.subject)),
      textArray(of((_, d) => d.auth)),
      textArray(of((_, d) => d.spf)),
      textArray(of((_, d) => d.dkim)),
      textArray(of((_, d) => d.dmarc)),
      textArray(of((_, d) => d.dmarcPolicy)),
      textArray(of((_, d) => d.spam)),
      textArray(of((_, d) => d.virus)),
      jsonbArray(of((_, d) => JSON.stringify(d.detail))),
      uuidArray(of((_, d) => d.inReplyToEmailId)),
      intArray(settled.map((m) => m.environmentId)),
      uuidArray(settled.map((m) => m.id)),
      dateArray(settled.map((m) => m.expiresOnDay)),
    ];
    const days = new Set([...of((m) => m.expiresOnDay), ...settled.map((m) => m.expiresOnDay)]);
    const rows = await (days.size > DAYS_MAX
      ? this.database.queryPrepared<{ id: Id }>(PROGRESS, values)
      : this.database.queryPrepared<{ id: Id }>(PROGRESS_OF_DAYS, [...values, ...daysOf([...days])]));
    return new Set(rows.map(({ id }) => id));
  }

  async renew(messages: readonly WaitingMessage[]): Promise<void> {
    await this.database.queryPrepared(RENEW, [
      intArray(messages.map((m) => m.environmentId)),
      uuidArray(messages.map((m) => m.id)),
      dateArray(messages.map((m) => m.expiresOnDay)),
      uuidArray(messages.map((m) => m.claim)),
    ]);
  }

  async putBack(
    { environmentId, id, expiresOn, claim }: WaitingMessage,
    afterMs: number,
    isTry: boolean,
  ): Promise<void> {
    await this.database.queryPrepared(PUT_BACK, [environmentId, id, expiresOn, claim, afterMs, isTry ? 0 : 1]);
  }

  /**
   * Delays a message until name servers may have recovered. Returns false if the claim is lost, or if too many messages
   * already wait for name servers.
   */
  async awaitDns({ environmentId, id, expiresOn, claim }: WaitingMessage, afterMs: number): Promise<boolean> {
    return (await this.database.queryPrepared(AWAIT_DNS, [environmentId, id, expiresOn, claim, afterMs])).length > 0;
  }

  async hasEvent({ environmentId, id, expiresOn }: WaitingMessage): Promise<boolean> {
    return (await this.database.queryPrepared(HAS_EVENT, [environmentId, id, expiresOn])).length > 0;
  }

  /** Returns the number of waiting messages (up to 10,000), and the age of the oldest message. */
  async waiting(): Promise<{ seconds: number; count: number }> {
    const [row] = await this.database.readPrepared<{ seconds: number; count: number }>(OLDEST, []);
    return row ?? { seconds: 0, count: 0 };
  }
}

/** Returns exactly `DAYS_MAX` days, one per parameter of the statement. Repeats the last day if there are fewer. */
function daysOf(days: readonly number[]): string[] {
  return Array.from({ length: DAYS_MAX }, (_, n) => dateOf(days[n] ?? days.at(-1) ?? 0));
}
