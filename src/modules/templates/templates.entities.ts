import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { UnsubscribeSetting } from '#modules/topics/contract.js';

export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'list', 'object'] as const;

export interface TemplateVariable {
  key: string;
  type: (typeof VARIABLE_TYPES)[number];
  /** Value for an email that does not set the variable. Null if every email must set the variable. */
  fallback: unknown;
}

/** A template of emails. Its content is in its versions. */
@Entity('templates')
@Index('templates_alias_idx', ['environmentId', 'alias'], { unique: true })
export class TemplateEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'templates_pkey' })
  @ForeignKey('environments', { name: 'templates_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'templates_pkey' })
  id: Id;

  @Column('text')
  name: string;

  @Column('text', { nullable: true })
  alias: string | null;

  /** The latest version. */
  @Column('int')
  version: number;

  /** The version that emails use. Null until the template is published. */
  @Column('int', { name: 'published_version', nullable: true })
  publishedVersion: number | null;

  @Column('timestamptz', { name: 'published_at', nullable: true })
  publishedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** The content of a template in one version. A stored version never changes. */
@Entity('template_versions')
@ForeignKey(() => TemplateEntity, ['environmentId', 'templateId'], ['environmentId', 'id'], {
  name: 'template_versions_template_fkey',
  onDelete: 'CASCADE',
})
export class TemplateVersionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'template_versions_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'template_id', primaryKeyConstraintName: 'template_versions_pkey' })
  templateId: Id;

  @PrimaryColumn('int', { primaryKeyConstraintName: 'template_versions_pkey' })
  version: number;

  @Column('text', { nullable: true })
  sender: string | null;

  @Column('text', { name: 'reply_to', array: true })
  replyTo: string[];

  @Column('text', { nullable: true })
  subject: string | null;

  @Column('text', { nullable: true })
  html: string | null;

  @Column('text', { nullable: true })
  text: string | null;

  @Column('jsonb')
  variables: TemplateVariable[];

  /** Null if the template requests no unsubscribe link. */
  @Column('jsonb', { nullable: true })
  unsubscribe: UnsubscribeSetting | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
