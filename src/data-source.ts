import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Tenancy1732100000000 } from '../migrations/1732100000000-tenancy.js';
import { Destinations1732100100000 } from '../migrations/1732100100000-destinations.js';
import { Ledger1732100200000 } from '../migrations/1732100200000-ledger.js';
import { Idempotency1732100300000 } from '../migrations/1732100300000-idempotency.js';
import { Workers1732100400000 } from '../migrations/1732100400000-workers.js';
import { Secrets1732200000000 } from '../migrations/1732200000000-secrets.js';
import { Endpoints1732300000000 } from '../migrations/1732300000000-endpoints.js';
import { Receiving1732300100000 } from '../migrations/1732300100000-receiving.js';
import { Pull1732300200000 } from '../migrations/1732300200000-pull.js';
import { Rollups1732300300000 } from '../migrations/1732300300000-rollups.js';
import { ReplayJobs1732300400000 } from '../migrations/1732300400000-replay-jobs.js';
import { ApiKeyEntity, EnvironmentEntity, OrganizationEntity } from './modules/auth/auth.entities.js';
import { CircuitEntity, DestinationEntity } from './modules/destinations/destinations.entities.js';
import { EndpointEntity, RouteEntity } from './modules/endpoints/endpoints.entities.js';
import { SecretEntity } from './modules/secrets/secrets.entities.js';

/** Everything that the database consists of, by name: no globs, so that a forgotten file does not start. */
export const ENTITIES = [
  ApiKeyEntity, CircuitEntity, DestinationEntity, EndpointEntity, EnvironmentEntity, OrganizationEntity, RouteEntity, SecretEntity,
];
export const MIGRATIONS = [
  Tenancy1732100000000,
  Destinations1732100100000,
  Ledger1732100200000,
  Idempotency1732100300000,
  Workers1732100400000,
  Secrets1732200000000,
  Endpoints1732300000000,
  Receiving1732300100000,
  Pull1732300200000,
  Rollups1732300300000,
  ReplayJobs1732300400000,
];

/** A data source that is not connected yet. */
export function dataSource(url: string, poolSize = 4): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    synchronize: false,
    installExtensions: false,
    poolSize,
    connectTimeoutMS: 5_000,
    extra: { application_name: 'posthorn', keepAlive: true },
    poolErrorHandler: () => undefined,
  });
}
