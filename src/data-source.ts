import 'reflect-metadata';
import type { Type } from '@nestjs/common';
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
import { Applications1732400000000 } from '../migrations/1732400000000-applications.js';
import { EventTypes1732400100000 } from '../migrations/1732400100000-event-types.js';
import { Signatures1732400200000 } from '../migrations/1732400200000-signatures.js';
import { SystemEvents1732400300000 } from '../migrations/1732400300000-system-events.js';
import { Recover1732400400000 } from '../migrations/1732400400000-recover.js';
import { RetriesIndex1732400500000 } from '../migrations/1732400500000-retries-index.js';
import { RollupEntries1732400600000 } from '../migrations/1732400600000-rollup-entries.js';
import { WithdrawnIndex1732400700000 } from '../migrations/1732400700000-withdrawn-index.js';
import { ApplicationEndpointEntity, ApplicationEntity } from './modules/applications/applications.entities.js';
import { ApiKeyEntity, EnvironmentEntity, OrganizationEntity } from './modules/auth/auth.entities.js';
import { CircuitEntity, DestinationEntity } from './modules/destinations/destinations.entities.js';
import { EndpointEntity, RouteEntity } from './modules/endpoints/endpoints.entities.js';
import { EventTypeEntity } from './modules/event-types/event-types.entities.js';
import { SecretEntity } from './modules/secrets/secrets.entities.js';

/** Everything that the database consists of, by name: no globs, so that a forgotten file does not start. */
export const ENTITIES = [
  ApiKeyEntity, ApplicationEndpointEntity, ApplicationEntity, CircuitEntity, DestinationEntity, EndpointEntity, EnvironmentEntity, EventTypeEntity, OrganizationEntity, RouteEntity, SecretEntity,
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
  Applications1732400000000,
  EventTypes1732400100000,
  Signatures1732400200000,
  SystemEvents1732400300000,
  Recover1732400400000,
  RetriesIndex1732400500000,
  RollupEntries1732400600000,
  WithdrawnIndex1732400700000,
];

/** A data source that is not connected yet, with the entities of extensions. */
export function dataSource(url: string, poolSize = 4, extended: readonly Type[] = []): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities: [...ENTITIES, ...extended],
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
