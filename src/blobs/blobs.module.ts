import { Global, Module } from '@nestjs/common';
import { Config } from '#kernel/config.js';
import { Database } from '#kernel/database.js';
import { BlobSweep } from './blob-sweep.js';
import { BlobStore } from './contract.js';
import { FileBlobs } from './file-blobs.js';
import { PostgresBlobs } from './postgres-blobs.store.js';

/** Where raw messages and attachments are kept, as BLOB_STORE says. */
@Global()
@Module({
  providers: [
    BlobSweep,
    {
      provide: BlobStore,
      useFactory: (config: Config, database: Database) => (config.blobDirectory === null ? new PostgresBlobs(database) : new FileBlobs(config.blobDirectory)),
      inject: [Config, Database],
    },
  ],
  exports: [BlobStore],
})
export class BlobsModule {}
