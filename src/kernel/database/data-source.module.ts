import { Global, Module } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { Database } from './database.js';

/**
 * Provides TypeORM's data source under the tokens of `@nestjs/typeorm`, for `TypeOrmModule.forFeature`,
 * `@InjectRepository`, `@InjectDataSource` and `@InjectEntityManager` in extensions.
 */
@Global()
@Module({
  providers: [
    { provide: DataSource, useFactory: (database: Database) => database.joinedDataSource(), inject: [Database] },
    { provide: EntityManager, useFactory: ({ manager }: DataSource) => manager, inject: [DataSource] },
  ],
  exports: [DataSource, EntityManager],
})
export class DataSourceModule {}
