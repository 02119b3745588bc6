import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { DeduplicationSettings } from '#engine/inbound/deduplication.js';
import type { Id } from '#kernel/ids.js';
import type { ResponseProxySettings, TransformSettings } from './contract.js';

/** An endpoint, at a path on the platform's host or on one of its organization's domains. Its URL is unique. */
@Entity('endpoints')
@Check('endpoints_status_check', `status in ('active', 'paused', 'disabled')`)
@Index('endpoints_path_idx', ['path', 'domainId'], { unique: true })
@Index('endpoints_domain_id_idx', ['environmentId', 'domainId'], { where: 'domain_id is not null' })
@ForeignKey('domains', ['environmentId', 'domainId'], ['environmentId', 'id'], { name: 'endpoints_domain_fkey' })
export class EndpointEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'endpoints_pkey' })
  @ForeignKey('environments', { name: 'endpoints_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'endpoints_pkey' })
  id: Id;

  @Column('text')
  name: string;

  /** Custom domain of the endpoint. `null` on the platform's host. */
  @Column('uuid', { name: 'domain_id', nullable: true })
  domainId: Id | null;

  /** Path without a leading slash. On the platform's host it begins with the organization's slug. */
  @Column('text')
  path: string;

  @Column('text', { nullable: true })
  preset: string | null;

  /** Verification of requests: `preset`, `none`, or a scheme for senders without a preset, such as `hmac-sha256`. */
  @Column('text')
  verification: string;

  @Column('jsonb', { name: 'verification_config', nullable: true })
  verificationConfig: Record<string, unknown> | null;

  /** Encrypted JSON: a list of `{secret, untilMs}`, newest first. `untilMs` is null for the current secret. */
  @Column('bytea', { nullable: true })
  secrets: Buffer | null;

  @Column('jsonb', { name: 'response_rules', nullable: true })
  responseRules: Record<string, unknown> | null;

  @Column('jsonb', { name: 'response_proxy', nullable: true })
  responseProxy: ResponseProxySettings | null;

  @Column('jsonb', { nullable: true })
  transform: TransformSettings | null;

  /** Allowed HTTP methods. `null` accepts any method. */
  @Column('text', { name: 'allowed_methods', array: true, nullable: true })
  allowedMethods: string[] | null;

  /** Source of the id that detects duplicates. `null` if duplicates are not dropped. */
  @Column('jsonb', { nullable: true })
  deduplicate: DeduplicationSettings | null;

  /** Maximum size of a request's body. `null` for the default. */
  @Column('int', { name: 'max_body_bytes', nullable: true })
  maxBodyBytes: number | null;

  /** Encrypted JSON of the response settings, some of which are secret. */
  @Column('bytea', { nullable: true })
  response: Buffer | null;

  @Column('text')
  status: 'active' | 'paused' | 'disabled';

  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

@Entity('routes')
@Index('routes_endpoint_id_idx', ['environmentId', 'endpointId', 'position'])
@Index('routes_destination_id_idx', ['environmentId', 'destinationId'])
@ForeignKey(() => EndpointEntity, ['environmentId', 'endpointId'], ['environmentId', 'id'], {
  name: 'routes_endpoint_fkey',
  onDelete: 'CASCADE',
})
export class RouteEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'routes_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'routes_pkey' })
  id: Id;

  @Column('uuid', { name: 'endpoint_id' })
  endpointId: Id;

  @Column('uuid', { name: 'destination_id' })
  destinationId: Id;

  /** A condition in the filter syntax. `null` selects all events. */
  @Column('jsonb', { nullable: true })
  filter: Record<string, unknown> | null;

  @Column('int')
  position: number;
}
