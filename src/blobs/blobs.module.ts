import { Global, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { EgressAgent } from '#egress/agent.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { BlobDirectory } from './blob-directory.js';
import { BlobDirectoryStore } from './blob-directory.store.js';
import { BlobSweep } from './blob-sweep.js';
import { BlobStore } from './contract.js';
import { ExtensionBlobs } from './extension-blobs.js';
import { FileBlobs } from './file-blobs.js';
import { PostgresBlobs } from './postgres-blobs.store.js';
import { S3Blobs } from './s3-blobs.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: BlobSweep,
      useFactory: (store: ExtensionBlobs | FileBlobs | PostgresBlobs | S3Blobs, clock: Clock) =>
        store instanceof PostgresBlobs ? null : new BlobSweep(store, clock),
      inject: [BlobStore, Clock],
    },
    {
      provide: BlobStore,
      useFactory: ({ blobStore }: Config, database: Database, agent: EgressAgent, discovery: DiscoveryService) => {
        if (blobStore.kind === 's3') return new S3Blobs(blobStore, agent);
        if (blobStore.kind === 'extension') return new ExtensionBlobs(blobStore.name, discovery);
        if (blobStore.kind === 'file')
          return new FileBlobs(new BlobDirectory(blobStore.directory, new BlobDirectoryStore(database)));
        return new PostgresBlobs(database);
      },
      inject: [Config, Database, EgressAgent, DiscoveryService],
    },
  ],
  exports: [BlobStore],
})
export class BlobsModule {}
