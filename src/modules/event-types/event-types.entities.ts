import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** An event type. `bytes` is the size of its schema and example as JSON. */
@Entity('event_types')
@Unique('event_types_environment_id_id_key', ['environmentId', 'id'])
export class EventTypeEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'event_types_pkey' })
  @ForeignKey('environments', { name: 'event_types_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'event_types_pkey' })
  name: string;

  /** Id of the event type. A type that is deleted and created again under the same name gets another id. */
  @Column('uuid')
  id: Id;

  @Column('int')
  version: number;

  @Column('text', { nullable: true })
  description: string | null;

  @Column('text', { name: 'group_name', nullable: true })
  group: string | null;

  @Column('json', { nullable: true })
  schema: Record<string, unknown> | null;

  @Column('json', { nullable: true })
  example: Record<string, unknown> | null;

  @Column('int')
  bytes: number;

  @Column('bool')
  enforce: boolean;

  @Column('bool')
  archived: boolean;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** A version of the schema of an event type. */
@Entity('event_type_versions')
@ForeignKey(() => EventTypeEntity, ['environmentId', 'name'], ['environmentId', 'name'], {
  name: 'event_type_versions_type_fkey',
  onDelete: 'CASCADE',
})
export class EventTypeVersionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'event_type_versions_pkey' })
  environmentId: number;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'event_type_versions_pkey' })
  name: string;

  @PrimaryColumn('int', { primaryKeyConstraintName: 'event_type_versions_pkey' })
  version: number;

  @Column('json', { nullable: true })
  schema: Record<string, unknown> | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
