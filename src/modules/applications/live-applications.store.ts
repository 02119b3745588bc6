import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';
import type { ApplicationEndpoint } from './contract.js';

export type SubscribedRow = Pick<
  ApplicationEndpointEntity,
  'id' | 'destinationId' | 'eventTypes' | 'channels' | 'filter' | 'status'
>;

/** Uses the index applications_pkey. */
const EXISTS: Statement = {
  name: 'applications_exists',
  text: 'select 1 from applications where environment_id = $1 and id = $2',
};

/** Uses the index applications_uid_idx. */
const BY_UID: Statement = {
  name: 'applications_by_uid',
  text: 'select id from applications where environment_id = $1 and uid = $2',
};

const KEYS = 'application_id as "applicationId", id, destination_id as "destinationId"';

/** Uses the index application_endpoints_pkey. */
const ENDPOINT: Statement = {
  name: 'applications_endpoint',
  text: `select ${KEYS} from application_endpoints where environment_id = $1 and id = $2`,
};

/** Uses the index application_endpoints_pkey or application_endpoints_uid_idx. */
const ENDPOINT_OF: Statement = {
  name: 'applications_endpoint_of',
  text: `
    select ${KEYS} from application_endpoints where environment_id = $1 and id = $3 and application_id = $2
    union all
    select ${KEYS} from application_endpoints where environment_id = $1 and application_id = $2 and $3::uuid is null
      and uid = $4`,
};

/** Uses the index application_endpoints_destination_id_idx. */
const ENDPOINTS_TO: Statement = {
  name: 'applications_endpoints_to',
  text: `select ${KEYS} from application_endpoints where environment_id = $1 and destination_id = $2 and destination_id <> id order by id limit $3`,
};

/** Selects the oldest first. Uses the index application_endpoints_application_id_idx. */
const ENDPOINTS: Statement = {
  name: 'applications_live_endpoints',
  text: `
    select id, destination_id as "destinationId", event_types as "eventTypes", channels, filter, status
    from application_endpoints where environment_id = $1 and application_id = $2 order by id`,
};

/**
 * If the first two sends to a uid run concurrently, only one of them creates the application (applications_uid_idx).
 */
const CREATE: Statement = {
  name: 'applications_create_by_uid',
  text: `
    insert into applications (environment_id, id, uid, name, metadata, created_at, updated_at)
    values ($1, $2, $3, $3, '{}', now(), now()) on conflict (environment_id, uid) where uid is not null do nothing`,
};

/** Reads applications for fan-outs, and creates an application on the first send to a uid. */
@Injectable()
export class LiveApplicationsStore {
  constructor(private readonly database: Database) {}

  async exists(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.queryPrepared(EXISTS, [environmentId, id])).length > 0;
  }

  async byUid(environmentId: number, uid: string): Promise<Id | null> {
    const [row] = await this.database.queryPrepared<{ id: Id }>(BY_UID, [environmentId, uid]);
    return row?.id ?? null;
  }

  endpoints(environmentId: number, applicationId: Id): Promise<SubscribedRow[]> {
    return this.database.queryPrepared(ENDPOINTS, [environmentId, applicationId]);
  }

  async endpoint(environmentId: number, id: Id): Promise<ApplicationEndpoint | null> {
    const [row] = await this.database.queryPrepared<ApplicationEndpoint>(ENDPOINT, [environmentId, id]);
    return row ?? null;
  }

  async endpointOf(
    environmentId: number,
    applicationId: Id,
    id: Id | null,
    uid: string,
  ): Promise<ApplicationEndpoint | null> {
    const [row] = await this.database.queryPrepared<ApplicationEndpoint>(ENDPOINT_OF, [
      environmentId,
      applicationId,
      id,
      uid,
    ]);
    return row ?? null;
  }

  /**
   * Returns up to `max` endpoints that use a destination of the environment (`dst_…`) instead of a URL, inside the
   * caller's transaction.
   */
  endpointsTo(environmentId: number, destinationId: Id, max: number): Promise<ApplicationEndpoint[]> {
    return this.database.query(ENDPOINTS_TO, [environmentId, destinationId, max]);
  }

  /** Creates the application unless it already exists. */
  async create(environmentId: number, id: Id, uid: string): Promise<void> {
    await this.database.queryPrepared(CREATE, [environmentId, id, uid]);
  }
}
