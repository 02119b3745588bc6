import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import type { Auth, QuarantineReason, Verdicts } from '#engine/mail/mail-verdicts.js';
import type { StoredDetail } from './message-detail.js';

/** A message that was claimed, with its alias as it is set now. */
export interface WaitingMessage {
  environmentId: number;
  id: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  expiresOnDay: number;
  aliasId: Id;
  /** The worker's name for this claim: what is written by another one counts. */
  claim: Id;
  reason: QuarantineReason | null;
  envelopeFrom: string;
  envelopeTo: string[];
  clientIp: string;
  helo: string;
  sizeBytes: number;
  messageId: string | null;
  receivedAt: Date;
  /** How often it was claimed, this time included. */
  tries: number;
  address: string;
  destinationIds: Id[];
  allowedSenders: string[];
  maxSizeBytes: number | null;
  /** What was decided of it, where it was decided already and then not accepted. */
  decided: Decided | null;
}

/** What is known of a message once it was read: everything that its event shows. */
export interface Decided extends Omit<Verdicts, 'arc'> {
  auth: Auth;
  reason: QuarantineReason | null;
  /** Only the address; null where there is no one author. */
  fromAddress: string | null;
  detail: StoredDetail;
}

/** What a claim needs to know of the worker that makes it. */
export interface Claimant {
  claim: Id;
  /** At most so many messages. */
  limit: number;
  /** At most so many of one environment, with those that it holds. */
  perEnvironmentMax: number;
  held: ReadonlyMap<number, number>;
}

/** Nobody takes this long: a worker that does is dead, or as good as that. */
const LEASE = `interval '2 minutes'`;
const OPEN = `state = 'received' and erased_at is null`;

/**
 * inbox_messages_received_idx: one step for each environment that has something waiting, and for each of them its oldest messages
 * that nobody holds. The oldest of each environment come before the second of any.
 */
const CLAIM: Statement = {
  name: 'inbox_claim',
  text: `
    with recursive waiting as (
      (select environment_id from inbox_messages where state = 'received' order by environment_id limit 1)
      union all
      select (select m.environment_id from inbox_messages m where m.state = 'received' and m.environment_id > w.environment_id order by m.environment_id limit 1)
      from waiting w where w.environment_id is not null
    ), free as materialized (
      select c.environment_id, c.id, c.expires_on, row_number() over (partition by c.environment_id order by c.id) as place
      from waiting w cross join lateral (
        select m.environment_id, m.id, m.expires_on from inbox_messages m
        where m.environment_id = w.environment_id and m.state = 'received' and (m.claimed_until is null or m.claimed_until <= now())
        order by m.id
        limit greatest(0, $3::int - coalesce((select h.count from unnest($4::int[], $5::int[]) h(environment_id, count) where h.environment_id = w.environment_id), 0))
        for update skip locked
      ) c where w.environment_id is not null
    ), picked as (
      select * from free order by place, id limit $2::int
    ), claimed as (
      update inbox_messages m set claimed_by = $1::uuid, claimed_until = now() + ${LEASE}, tries = least(m.tries + 1, 32000)
      from picked p where m.environment_id = p.environment_id and m.id = p.id and m.expires_on = p.expires_on
      returning m.*
    )
    select c.environment_id as "environmentId", c.id, c.expires_on::text as "expiresOn", (c.expires_on - date '1970-01-01')::int as "expiresOnDay",
           c.alias_id as "aliasId", c.claimed_by as claim, c.reason, c.envelope_from as "envelopeFrom", c.envelope_to as "envelopeTo", c.client_ip as "clientIp",
           c.helo, c.size_bytes as "sizeBytes", c.message_id as "messageId", c.received_at as "receivedAt", c.tries,
           c.from_address as "fromAddress", c.auth, c.spf, c.dkim, c.dmarc, c.dmarc_policy as "dmarcPolicy", c.spam, c.virus, c.detail,
           coalesce(a.address, '') as address, coalesce(a.destination_ids, '{}') as "destinationIds",
           coalesce(a.allowed_senders, '{}') as "allowedSenders", a.max_size_bytes as "maxSizeBytes"
    from claimed c left join aliases a on a.environment_id = c.environment_id and a.id = c.alias_id`,
};

/** inbox_messages_received_idx of each partition, until one has something. */
const IS_ANY_WAITING: Statement = {
  name: 'inbox_is_any_waiting',
  text: `select true as found from inbox_messages where state = 'received' and (claimed_until is null or claimed_until <= now()) limit 1`,
};

/** inbox_messages_pkey. Nothing where somebody else holds it by now, or it was erased. */
const DECIDE: Statement = {
  name: 'inbox_decide',
  text: `
    update inbox_messages set claimed_until = now() + ${LEASE}, reason = $5, from_address = $6, subject = $7, auth = $8, spf = $9, dkim = $10, dmarc = $11,
      dmarc_policy = $12, spam = $13, virus = $14, detail = $15::jsonb
    where environment_id = $1 and id = $2 and expires_on = $3::date and claimed_by = $4 and ${OPEN} returning 1 as decided`,
};

/** inbox_messages_pkey. Whoever holds it by now finds its event. */
const SETTLE: Statement = {
  name: 'inbox_settle',
  text: `
    update inbox_messages set state = case when reason is null then 'processed' else 'quarantined' end, event_id = id, processed_at = now(),
      claimed_by = null, claimed_until = null
    where environment_id = $1 and id = $2 and expires_on = $3::date and state = 'received'`,
};

/** inbox_messages_pkey. A try that was none is given back. */
const PUT_BACK: Statement = {
  name: 'inbox_put_back',
  text: `
    update inbox_messages set claimed_by = null, claimed_until = now() + $5::float8 * interval '1 millisecond', tries = tries - $6::int
    where environment_id = $1 and id = $2 and expires_on = $3::date and claimed_by = $4`,
};

/** events_pkey of the one partition: it expires with its message. */
const HAS_EVENT: Statement = { name: 'inbox_has_event', text: 'select true as found from events where environment_id = $1 and id = $2 and expires_on = $3::date' };

/** inbox_messages_received_idx, once for each environment that waits. */
const OLDEST: Statement = {
  name: 'inbox_oldest',
  text: `select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as seconds, count(*)::int as count
         from (select received_at from inbox_messages where state = 'received' order by environment_id, id limit 10000) waiting`,
};

type ClaimedRow = Omit<WaitingMessage, 'decided'> & { [K in keyof Omit<Decided, 'detail' | 'reason'>]: Decided[K] | null } & { detail: StoredDetail | null };

/** Statements of the pipeline on what waits for it. */
@Injectable()
export class WaitingMessagesStore {
  constructor(private readonly database: Database) {}

  /** Fairly over all environments. */
  async claim({ claim, limit, perEnvironmentMax, held }: Claimant): Promise<WaitingMessage[]> {
    const rows = await this.database.hot<ClaimedRow>(CLAIM, [claim, limit, perEnvironmentMax, [...held.keys()], [...held.values()]]);
    return rows.map(({ fromAddress, auth, spf, dkim, dmarc, dmarcPolicy, spam, virus, detail, ...row }) => ({
      ...row,
      decided: detail === null ? null : { fromAddress, auth, spf, dkim, dmarc, dmarcPolicy, spam, virus, detail, reason: row.reason } as Decided,
    }));
  }

  /** Whether a claim would find something: a fifth of its cost, and no row is locked. */
  async isAnyWaiting(): Promise<boolean> {
    return (await this.database.hot(IS_ANY_WAITING, [])).length > 0;
  }

  /** What is decided stays so, whatever dies from here on. False where it is no longer this worker's. */
  async decide({ environmentId, id, expiresOn, claim }: WaitingMessage, decided: Decided): Promise<boolean> {
    const { reason, fromAddress, auth, spf, dkim, dmarc, dmarcPolicy, spam, virus, detail } = decided;
    const values = [environmentId, id, expiresOn, claim, reason, fromAddress, detail.subject, auth, spf, dkim, dmarc, dmarcPolicy, spam, virus, JSON.stringify(detail)];
    return (await this.database.hot(DECIDE, values)).length > 0;
  }

  /** Its event is there: it is `processed`, or `quarantined`. */
  async settle({ environmentId, id, expiresOn }: WaitingMessage): Promise<void> {
    await this.database.hot(SETTLE, [environmentId, id, expiresOn]);
  }

  /** It is taken up again after so long. */
  async putBack({ environmentId, id, expiresOn, claim }: WaitingMessage, afterMs: number, isTry: boolean): Promise<void> {
    await this.database.hot(PUT_BACK, [environmentId, id, expiresOn, claim, afterMs, isTry ? 0 : 1]);
  }

  async hasEvent({ environmentId, id, expiresOn }: WaitingMessage): Promise<boolean> {
    return (await this.database.hot(HAS_EVENT, [environmentId, id, expiresOn])).length > 0;
  }

  /** How many messages wait (up to 10,000), and the oldest of them for how long. */
  async waiting(): Promise<{ seconds: number; count: number }> {
    const [row] = await this.database.read<{ seconds: number; count: number }>(OLDEST, []);
    return row ?? { seconds: 0, count: 0 };
  }
}
