import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';

/** A chunk of a blob. Partitioned by the day on which retention ends. */
@Entity('blob_chunks')
export class BlobChunkEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'blob_chunks_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'blob_chunks_pkey' })
  id: Id;

  /** Position of the chunk in the blob, starting at 0. */
  @PrimaryColumn('int', { primaryKeyConstraintName: 'blob_chunks_pkey' })
  ordinal: number;

  /** Day on which retention of the blob ends. The row is stored in the partition of this day. */
  @PrimaryColumn('date', { name: 'expires_on', primaryKeyConstraintName: 'blob_chunks_pkey' })
  expiresOn: string;

  /** Size of the whole blob. */
  @Column('int', { name: 'blob_bytes' })
  blobBytes: number;

  @Column('bytea')
  content: Buffer;
}

/** The directory of `BLOB_STORE=file:` that this database uses. The table has at most one row. */
@Entity('blob_directory')
@Check('blob_directory_id_check', 'id = 1')
export class BlobDirectoryEntity {
  @PrimaryColumn('smallint', { default: 1, primaryKeyConstraintName: 'blob_directory_pkey' })
  id: number;

  /** Content of the directory's marker file. */
  @Column('uuid')
  marker: string;
}
