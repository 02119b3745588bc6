import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
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

/** A use of a named secret. A secret in use cannot be removed. */
@Entity('secret_uses')
@ForeignKey(() => SecretEntity, ['environmentId', 'secretId'], ['environmentId', 'id'], {
  name: 'secret_uses_secret_fkey',
})
@Check('secret_uses_user_kind_check', `user_kind in ('destination', 'endpoint')`)
@Index('secret_uses_user_idx', ['environmentId', 'userKind', 'userId'])
export class SecretUseEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'secret_uses_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'secret_id', primaryKeyConstraintName: 'secret_uses_pkey' })
  secretId: Id;

  @PrimaryColumn('text', { name: 'user_kind', primaryKeyConstraintName: 'secret_uses_pkey' })
  userKind: 'destination' | 'endpoint';

  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'secret_uses_pkey' })
  userId: Id;
}
