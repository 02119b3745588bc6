import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { CodeLogs } from '#engine/code-logs.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import type { StoredHeader, StoredHeaders } from '#kernel/crypto/sealed-headers.js';
import type { Id } from '#kernel/ids.js';
import type { CancelReason } from './cancellation.contract.js';
import type { Direction } from './claims.contract.js';

/** A message to an application, with the payload that all events of its fan-out share. */
@Entity('messages')
@Index('messages_application_id_idx', ['environmentId', 'applicationId', 'id'])
export class MessageEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'messages_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'messages_pkey' })
  id: Id;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'messages_pkey' })
  expiresOn: string;

  @Column('uuid', { name: 'application_id' })
  applicationId: Id;

  @Column('text', { name: 'event_type' })
  eventType: string;

  @Column('jsonb', { nullable: true })
  channels: string[] | null;

  @Column('jsonb', { nullable: true })
  headers: StoredHeaders | null;

  @Column('text', { nullable: true })
  traceparent: string | null;

  @Column('int', { name: 'payload_bytes' })
  payloadBytes: number;

  @Column('text', { nullable: true })
  payload: string | null;

  /** Number of events that the message was fanned out to. */
  @Column('smallint')
  fanout: number;

  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;
}

/** A sent or received event. Its row never changes, unless the event is erased or released from quarantine. */
@Entity('events')
@Check('events_disposition_check', `disposition in ('quarantined', 'parked', 'ignored')`)
@Index('events_target_id_idx', ['environmentId', 'targetId', 'id'])
@Index('events_event_type_idx', ['environmentId', 'eventType', 'id'])
@Index('events_disposition_idx', ['environmentId', 'disposition', 'id'], { where: 'disposition is not null' })
@Index('events_set_aside_idx', ['environmentId', 'targetId', 'disposition', 'id'], { where: 'disposition is not null' })
@Index('events_dropped_idx', ['environmentId', 'targetId', 'id'], { where: 'dropped' })
export class EventEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'events_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'events_pkey' })
  id: Id;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'events_pkey' })
  expiresOn: string;

  /** Id of the destination, id of the endpoint that received the event, or hash of an ad-hoc URL. */
  @Column('uuid', { name: 'target_id' })
  targetId: Id;

  /** Address of an ad-hoc URL, or null. */
  @Column('text', { nullable: true })
  url: string | null;

  @Column('text')
  direction: Direction;

  @Column('text', { name: 'event_type' })
  eventType: string;

  @Column('jsonb', { nullable: true })
  headers: StoredHeaders | null;

  @Column('text', { nullable: true })
  traceparent: string | null;

  @Column('int', { name: 'payload_bytes' })
  payloadBytes: number;

  /** Exact text of the payload. Null if its message or `body` contains the payload, or if the payload was erased. */
  @Column('text', { nullable: true })
  payload: string | null;

  /** Reason why the event has no deliveries. Null if it has deliveries. */
  @Column('text', { nullable: true })
  disposition: Disposition | null;

  /** Bytes of a received body that is not text. */
  @Column('bytea', { nullable: true })
  body: Buffer | null;

  @Column('uuid', { name: 'message_id', nullable: true })
  messageId: Id | null;

  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;

  /** True if the endpoint's transform dropped the event. */
  @Column('boolean', { nullable: true })
  dropped: boolean | null;

  /** Method of the received request. Null for a sent event. */
  @Column('text', { nullable: true })
  method: string | null;

  /** Path after the endpoint's path. Null for a sent event. */
  @Column('text', { nullable: true })
  path: string | null;

  /** Query without parameters that authenticate the provider. Null for a sent event. */
  @Column('text', { nullable: true })
  query: string | null;
}

/** An open delivery. Its row is deleted when the delivery ends. */
@Entity('due_deliveries')
@Index('due_deliveries_due_at_idx', ['dueAt'], { where: 'claimed_by is null and not parked' })
@Index('due_deliveries_parked_idx', ['environmentId', 'targetId', 'dueAt'], { where: 'claimed_by is null and parked' })
@Index('due_deliveries_retries_idx', ['environmentId', 'targetId', 'dueAt'], {
  where: 'claimed_by is null and attempts > 0',
})
@Index('due_deliveries_withdrawn_idx', ['environmentId', 'targetId'], { where: `coalesce(withdrawn, '') <> ''` })
export class DueDeliveryEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'due_deliveries_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'due_deliveries_pkey' })
  eventId: Id;

  /** Position among the event's deliveries, starting at 0. */
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'due_deliveries_pkey' })
  ordinal: number;

  @Column('date', { name: 'expires_on' })
  expiresOn: string;

  @Column('uuid', { name: 'target_id' })
  targetId: Id;

  @Column('timestamptz', { name: 'due_at' })
  dueAt: Date;

  /** Worker that has claimed the delivery. The claim ends when the worker's row in `workers` is deleted. */
  @Column('uuid', { name: 'claimed_by', nullable: true })
  claimedBy: Id | null;

  /** True while the delivery waits until the target accepts deliveries again. */
  @Column('boolean')
  parked: boolean;

  @Column('smallint')
  attempts: number;

  /** Number of attempts that use up retries. Failed probes of an open circuit do not count. */
  @Column('smallint', { name: 'attempts_used' })
  attemptsUsed: number;

  @Column('timestamptz', { name: 'first_attempt_at', nullable: true })
  firstAttemptAt: Date | null;

  @Column('boolean')
  replayed: boolean;

  @Column('boolean')
  superseded: boolean;

  /** Endpoint that received the event. Null for a sent event. */
  @Column('uuid', { name: 'endpoint_id', nullable: true })
  endpointId: Id | null;

  /** Reason to end the delivery instead of attempting it again. Null if there is none. */
  @Column('text', { nullable: true })
  withdrawn: CancelReason | null;
}

/** A delivery that has ended as `delivered`, `failed` or `dlq`. */
@Entity('deliveries')
@Check('deliveries_status_check', `status in ('delivered', 'failed', 'dlq')`)
@Index('deliveries_status_idx', ['environmentId', 'status', 'eventId'], {
  where: `status <> 'delivered' and not superseded`,
})
@Index('deliveries_target_id_idx', ['environmentId', 'targetId', 'status', 'eventId'], {
  where: `status <> 'delivered' and not superseded`,
})
@Index('deliveries_routed_idx', ['environmentId', 'targetId', 'eventId'], { where: 'endpoint_id is not null' })
@Index('deliveries_settled_at_idx', { synchronize: false })
export class DeliveryEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'deliveries_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'deliveries_pkey' })
  eventId: Id;

  /** Position among the event's deliveries, starting at 0. */
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'deliveries_pkey' })
  ordinal: number;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'deliveries_pkey' })
  expiresOn: string;

  @Column('uuid', { name: 'target_id' })
  targetId: Id;

  @Column('text')
  status: 'delivered' | 'failed' | 'dlq';

  @Column('text', { nullable: true })
  reason: string | null;

  @Column('smallint')
  attempts: number;

  @Column('boolean')
  replayed: boolean;

  /** True if a newer delivery to the same target replaces this one in counts and lists. */
  @Column('boolean')
  superseded: boolean;

  @Column('timestamptz', { name: 'settled_at' })
  settledAt: Date;

  @Column('uuid', { name: 'endpoint_id', nullable: true })
  endpointId: Id | null;
}

/** An attempt of a delivery. */
@Entity('attempts')
@Index('attempts_started_at_idx', { synchronize: false })
export class AttemptEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'attempts_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'event_id', primaryKeyConstraintName: 'attempts_pkey' })
  eventId: Id;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'attempts_pkey' })
  ordinal: number;

  /** Number of the attempt, starting at 1. */
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'attempts_pkey' })
  number: number;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'attempts_pkey' })
  expiresOn: string;

  @Column('timestamptz', { name: 'started_at' })
  startedAt: Date;

  @Column('int', { name: 'duration_ms' })
  durationMs: number;

  /** HTTP status of the response. Null without a response. */
  @Column('smallint', { nullable: true })
  status: number | null;

  @Column('text', { nullable: true })
  error: string | null;

  @Column('text', { name: 'response_excerpt', nullable: true })
  responseExcerpt: string | null;

  /** JSON of the HTTP exchange. Stored only for failed attempts. */
  @Column('text', { nullable: true })
  exchange: string | null;
}

/** The raw request of a received event. It has the same id as the event. */
@Entity('requests')
@Check('requests_verification_check', `verification in ('verified', 'failed', 'none')`)
@Index('requests_endpoint_id_idx', ['environmentId', 'endpointId', 'id'])
@Index('requests_duplicates_idx', ['environmentId', 'endpointId', 'id'], { where: 'duplicate_of is not null' })
@Index('requests_too_large_idx', ['environmentId', 'endpointId', 'id'], { where: 'too_large' })
@Index('requests_duplicate_of_idx', ['environmentId', 'duplicateOf'], { where: 'duplicate_of is not null' })
@Index('requests_dedupe_id_idx', { synchronize: false })
export class RequestEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'requests_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'requests_pkey' })
  id: Id;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'requests_pkey' })
  expiresOn: string;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: Id;

  @Column('text')
  method: string;

  @Column('text')
  url: string;

  @Column('text')
  path: string;

  @Column('text')
  query: string;

  @Column('jsonb')
  headers: readonly StoredHeader[];

  /** Body as received. Null if the event's payload has the same bytes. */
  @Column('bytea', { nullable: true })
  body: Buffer | null;

  @Column('int', { name: 'size_bytes' })
  sizeBytes: number;

  @Column('text')
  ip: string;

  @Column('text')
  verification: 'verified' | 'failed' | 'none';

  /** Id that the provider gave to its delivery. */
  @Column('text', { name: 'dedupe_id', nullable: true })
  dedupeId: string | null;

  @Column('text', { nullable: true })
  note: string | null;

  /** Output of the transform's console. */
  @Column('jsonb', { nullable: true })
  logs: CodeLogs | null;

  @Column('uuid', { name: 'replay_of', nullable: true })
  replayOf: Id | null;

  /** Response to the provider. */
  @Column('jsonb', { nullable: true })
  answer: Record<string, unknown> | null;

  @Column('timestamptz', { name: 'released_at', nullable: true })
  releasedAt: Date | null;

  /** Earlier request of which this one is a duplicate. */
  @Column('uuid', { name: 'duplicate_of', nullable: true })
  duplicateOf: Id | null;

  /** True if the body was larger than the endpoint's limit. Such a request has no body and no event. */
  @Column('boolean', { name: 'too_large', nullable: true })
  tooLarge: boolean | null;
}

/** A running worker. A claim whose worker has no row is invalid. */
@Entity('workers')
export class WorkerEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'workers_pkey' })
  id: Id;

  @Column('text')
  host: string;

  @Column('int')
  pid: number;

  @Column('timestamptz', { name: 'started_at' })
  startedAt: Date;

  /** End of the lease, which the worker renews. */
  @Column('timestamptz', { name: 'alive_until' })
  aliveUntil: Date;
}
