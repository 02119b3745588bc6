import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** A token bucket: the rate limit of a target, which all workers share. */
@Entity('target_permits')
export class TargetPermitEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'target_permits_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'target_id', primaryKeyConstraintName: 'target_permits_pkey' })
  targetId: Id;

  @Column('double precision')
  tokens: number;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
