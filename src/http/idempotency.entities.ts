import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An idempotency key with the first response of its request. */
@Entity('idempotency_keys')
@Index('idempotency_keys_expires_at_idx', ['expiresAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'idempotency_keys_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'idempotency_keys_pkey' })
  key: Id;

  /** Method and path of the request, such as `POST /v1/send`. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' })
  route: string;

  /** SHA-256 of the request, to detect another request with the same key. */
  @Column('bytea')
  fingerprint: Buffer;

  /** HTTP status of the response. Null while the first request runs. */
  @Column('smallint', { nullable: true })
  status: number | null;

  @Column('text', { nullable: true })
  body: string | null;

  /** Encrypted body of a response that contains a secret. */
  @Column('bytea', { name: 'sealed_body', nullable: true })
  sealedBody: Buffer | null;

  /** End of the lease that began with the reservation of the key. Also the fencing token of the attempt. */
  @Column('timestamptz', { name: 'locked_until', nullable: true })
  lockedUntil: Date | null;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;

  /** End of the lease after its last renewal. Null until the first renewal. */
  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil: Date | null;
}
