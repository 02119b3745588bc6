import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { AutoReplySettings } from '#engine/mail/auto-reply.js';
import type { Id } from '#kernel/ids.js';
import type { MessageState } from './intake/message-row.js';
import type { StoredDetail } from './messages/message-detail.js';

/** An address that receives mail. The row of a removed alias is kept for as long as its messages are stored. */
@Entity('aliases')
@Check('aliases_kind_check', `kind in ('platform', 'custom')`)
@Check('aliases_domain_check', `(kind = 'custom') = (domain_id is not null)`)
@Index('aliases_address_idx', ['environmentId', 'address'], { unique: true, where: 'removed_at is null' })
@Index('aliases_platform_idx', ['address'], { unique: true, where: `removed_at is null and kind = 'platform'` })
@Index('aliases_host_idx', ['address'], { where: 'removed_at is null' })
@Index('aliases_domain_id_idx', ['environmentId', 'domainId'], { where: 'removed_at is null' })
export class AliasEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'aliases_pkey' })
  @ForeignKey('environments', { name: 'aliases_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'aliases_pkey' })
  id: Id;

  @Column('text')
  kind: 'platform' | 'custom';

  /** Domain of a custom alias. Null for a platform alias. */
  @Column('uuid', { name: 'domain_id', nullable: true })
  domainId: Id | null;

  /**
   * Local part in lower case, such as `support`. On a custom domain, it can also contain a tag (`support+eu`) or be a
   * pattern (`support*`). The pattern `*` receives all mail that no other alias of the domain receives.
   */
  @Column('text', { name: 'local_part' })
  localPart: string;

  /**
   * Address in lower case, domain in A-labels. The address of a platform alias contains the slug that the organization
   * had when the alias was created.
   */
  @Column('text')
  address: string;

  @Column('uuid', { name: 'destination_ids', array: true })
  destinationIds: Id[];

  /** Filters by destination id. A destination without a filter gets all mail. */
  @Column('jsonb', { default: {} })
  filters: Record<Id, Record<string, unknown>>;

  /** Patterns `a@d`, `@d` or `*.d`, in lower case and A-labels. An empty list accepts every sender. */
  @Column('text', { name: 'allowed_senders', array: true })
  allowedSenders: string[];

  /** Maximum message size in bytes. Null if only the listener's own limit applies. */
  @Column('int', { name: 'max_size_bytes', nullable: true })
  maxSizeBytes: number | null;

  /** Addresses to forward mail to, in lower case and A-labels. Mail is forwarded only to confirmed addresses. */
  @Column('text', { name: 'forward_to', array: true, default: [] })
  forwardTo: string[];

  @Column('jsonb', { name: 'auto_reply', nullable: true })
  autoReply: AutoReplySettings | null;

  /** Lifetime of signed links in events, in seconds. Null if the links need an API key instead. */
  @Column('int', { name: 'link_ttl_seconds', nullable: true })
  linkTtlSeconds: number | null;

  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;

  /** Time of the removal. A removed alias rejects mail and does not appear in lists. */
  @Column('timestamptz', { name: 'removed_at', nullable: true })
  removedAt: Date | null;
}

/** A received email. Its event has the same id. */
@Entity('inbox_messages')
@Check('inbox_messages_state_check', `state in ('received', 'processed', 'quarantined')`)
@Index('inbox_messages_alias_id_idx', ['environmentId', 'aliasId', 'id'])
@Index('inbox_messages_received_idx', ['environmentId', 'id'], { where: `state = 'received'` })
@Index('inbox_messages_repeated_idx', ['aliasId', 'sha256'])
@Index('inbox_messages_in_reply_to_email_id_idx', ['environmentId', 'inReplyToEmailId', 'id'], {
  where: 'in_reply_to_email_id is not null',
})
export class InboxMessageEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'inbox_messages_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'inbox_messages_pkey' })
  id: Id;

  /** Day on which retention ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'inbox_messages_pkey' })
  expiresOn: string;

  @Column('uuid', { name: 'alias_id' })
  aliasId: Id;

  @Column('text')
  state: MessageState;

  /** Reason for the quarantine, or null. */
  @Column('text', { nullable: true })
  reason: string | null;

  /** Address of MAIL FROM. Empty for the null sender. */
  @Column('text', { name: 'envelope_from' })
  envelopeFrom: string;

  @Column('text', { name: 'envelope_to', array: true })
  envelopeTo: string[];

  @Column('text', { name: 'client_ip' })
  clientIp: string;

  @Column('text')
  helo: string;

  @Column('text', { nullable: true })
  tls: string | null;

  @Column('int', { name: 'size_bytes' })
  sizeBytes: number;

  @Column('bytea')
  sha256: Buffer;

  /** Bytes of a message of at most 256 KB. A larger message is stored as a blob with the message's id. */
  @Column('bytea', { nullable: true })
  raw: Buffer | null;

  @Column('text', { name: 'message_id', nullable: true })
  messageId: string | null;

  @Column('timestamptz', { name: 'received_at' })
  receivedAt: Date;

  /** Id of the process that has claimed the message. */
  @Column('uuid', { name: 'claimed_by', nullable: true })
  claimedBy: Id | null;

  /** End of the lease of the process that has claimed the row. Null while no process has claimed it. */
  @Column('timestamptz', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  @Column('smallint')
  tries: number;

  @Column('text', { name: 'from_address', nullable: true })
  fromAddress: string | null;

  @Column('text', { nullable: true })
  subject: string | null;

  @Column('text', { nullable: true })
  auth: string | null;

  @Column('text', { nullable: true })
  spf: string | null;

  @Column('text', { nullable: true })
  dkim: string | null;

  @Column('text', { nullable: true })
  dmarc: string | null;

  @Column('text', { name: 'dmarc_policy', nullable: true })
  dmarcPolicy: string | null;

  @Column('text', { nullable: true })
  spam: string | null;

  @Column('text', { nullable: true })
  virus: string | null;

  @Column('jsonb', { nullable: true })
  detail: StoredDetail | null;

  @Column('uuid', { name: 'event_id', nullable: true })
  eventId: Id | null;

  /** Sent email of the environment that the message replies to. Null if there is none. */
  @Column('uuid', { name: 'in_reply_to_email_id', nullable: true })
  inReplyToEmailId: Id | null;

  @Column('timestamptz', { name: 'processed_at', nullable: true })
  processedAt: Date | null;

  @Column('timestamptz', { name: 'erased_at', nullable: true })
  erasedAt: Date | null;

  /** Time since which name servers have not answered queries for the message. Null if all were answered. */
  @Column('timestamptz', { name: 'unanswered_since', nullable: true })
  unansweredSince: Date | null;
}
