import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** A named secret with an encrypted value. */
@Entity('secrets')
@Unique('secrets_environment_id_name_key', ['environmentId', 'name'])
export class SecretEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'secrets_pkey' })
  @ForeignKey('environments', { name: 'secrets_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'secrets_pkey' })
  id: Id;

  @Column('text')
  name: string;

  @Column('text', { nullable: true })
  description: string | null;

  @Column('bytea')
  value: Buffer;

  @Column('int')
  version: number;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
