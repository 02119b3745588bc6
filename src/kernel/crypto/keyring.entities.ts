import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A data key, encrypted with the master key. */
@Entity('data_keys')
export class DataKeyEntity {
  @PrimaryColumn('int', { primaryKeyConstraintName: 'data_keys_pkey' })
  id: number;

  @Column('bytea')
  wrapped: Buffer;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
