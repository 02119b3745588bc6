import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An address to which aliases of the environment forward mail. Used only after its owner has confirmed it. */
@Entity('forward_addresses')
@Check('forward_addresses_state_check', `state in ('pending', 'confirmed', 'refused')`)
@Index('forward_addresses_send_at_idx', ['sendAt'], { where: 'send_at is not null' })
export class ForwardAddressEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'forward_addresses_pkey' })
  @ForeignKey('environments', { name: 'forward_addresses_environment_id_fkey' })
  environmentId: number;

  /** Address in lower case, domain in A-labels. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'forward_addresses_pkey' })
  address: string;

  @Column('text')
  state: 'pending' | 'confirmed' | 'refused';

  /**
   * Random part of the confirmation link. An address that is removed and added again gets a new random part, so that
   * the old link stops working.
   */
  @Column('uuid')
  nonce: Id;

  /** Time of the latest request to the owner to confirm the address. */
  @Column('timestamptz', { name: 'requested_at' })
  requestedAt: Date;

  /** Time at which the owner confirmed or refused. */
  @Column('timestamptz', { name: 'decided_at', nullable: true })
  decidedAt: Date | null;

  /** Time of the next attempt to send the confirmation mail. Null if no attempt is due. */
  @Column('timestamptz', { name: 'send_at', nullable: true })
  sendAt: Date | null;

  @Column('int')
  tries: number;

  /** Reply of the mail server to the confirmation mail, sanitized. Null before the first attempt. */
  @Column('text', { nullable: true })
  detail: string | null;
}

/**
 * A sender to whom an alias has replied automatically. The sender gets no other automatic reply until the row expires.
 */
@Entity('auto_replies')
@Index('auto_replies_recent_idx', ['environmentId', 'aliasId', 'repliedAt'])
@Index('auto_replies_expires_at_idx', ['expiresAt'])
export class AutoReplyEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'auto_replies_pkey' })
  @ForeignKey('environments', { name: 'auto_replies_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'alias_id', primaryKeyConstraintName: 'auto_replies_pkey' })
  aliasId: Id;

  /** Address in lower case, domain in A-labels. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'auto_replies_pkey' })
  sender: string;

  /** Message to which the reply was sent. */
  @Column('uuid', { name: 'message_id' })
  messageId: Id;

  @Column('timestamptz', { name: 'replied_at' })
  repliedAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt: Date;
}
