import { Injectable } from '@nestjs/common';
import { In, LessThan, Raw } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { ApplicationEndpointEntity, type ApplicationEntity } from './applications.entities.js';
import { ApplicationsStore } from './applications.store.js';

export type EndpointColumns = Partial<
  Omit<ApplicationEndpointEntity, 'environmentId' | 'id' | 'applicationId' | 'createdAt' | 'updatedAt'>
>;

const UNIQUE_VIOLATION = '23505';

/**
 * Maximum number of endpoints read for one page of subscribers. Event types are not indexed, so endpoints of other
 * event types are read and skipped.
 */
const SCANNED_MAX = 5_000;

const SUBSCRIBERS: Statement = {
  name: 'application_endpoints_subscribers',
  // Reads the index application_endpoints_pkey backwards, up to the limit.
  text: `
    select id, matches, n = ${SCANNED_MAX} as "isLast" from (
      select id, event_types = '{}' or event_types && $3::text[] as matches, row_number() over (order by id desc) as n
        from (
        select id, event_types from application_endpoints
        where environment_id = $1::int and ($2::uuid is null or id < $2::uuid) order by id desc limit ${SCANNED_MAX}
      ) newest
    ) scanned
    where matches or n = ${SCANNED_MAX} order by id desc`,
};

/**
 * Stores endpoints of applications. The transaction of each change also sends a notification that the application
 * changed.
 */
@Injectable()
export class ApplicationEndpointsStore {
  private readonly rows: TenantRepository<ApplicationEndpointEntity>;

  constructor(
    private readonly database: Database,
    private readonly applications: ApplicationsStore,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, ApplicationEndpointEntity);
  }

  /** Locks the application. See `ApplicationsStore.hold`. */
  holdApplication(environmentId: number, id: Id, how: 'alone' | 'together'): Promise<ApplicationEntity | null> {
    return this.applications.hold(environmentId, id, how);
  }

  /** Returns the number of an application's endpoints. Uses the index application_endpoints_application_id_idx. */
  count(environmentId: number, applicationId: Id): Promise<number> {
    return this.rows.count({ environmentId, applicationId });
  }

  /** Returns the endpoint with this id, or null. Uses the index application_endpoints_pkey. */
  find(environmentId: number, id: Id): Promise<ApplicationEndpointEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  findForUpdate(environmentId: number, id: Id): Promise<ApplicationEndpointEntity | null> {
    return this.rows.findForUpdate({ environmentId, id });
  }

  /**
   * Returns the endpoints that use a destination of the environment (`dst_…`) instead of a URL. Uses
   * application_endpoints_application_id_idx.
   */
  registered(environmentId: number, applicationId: Id): Promise<ApplicationEndpointEntity[]> {
    const ownsNoDestination = Raw((id) => `${id} <> destination_id`);
    return this.rows.find({ where: { environmentId, applicationId, id: ownsNoDestination } });
  }

  /** Returns endpoints, newest first. Reads application_endpoints_application_id_idx backwards. */
  page(
    environmentId: number,
    applicationId: Id,
    beforeId: Id | undefined,
    rowsMax: number,
  ): Promise<ApplicationEndpointEntity[]> {
    const where: TenantWhere<ApplicationEndpointEntity> = { environmentId, applicationId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /**
   * Returns the endpoints that subscribe to one of the patterns or to all types, in all applications, newest first.
   * Each call reads a limited number of endpoints. `floor` is the last endpoint that was read, or null if all were
   * read.
   */
  async subscribers(
    environmentId: number,
    patterns: readonly string[],
    beforeId: Id | null,
  ): Promise<{ ids: Id[]; floor: Id | null }> {
    const rows = await this.database.readPrepared<{ id: Id; matches: boolean; isLast: boolean }>(SUBSCRIBERS, [
      environmentId,
      beforeId,
      [...patterns],
    ]);
    const last = rows.at(-1);
    return {
      ids: rows.filter(({ matches }) => matches).map(({ id }) => id),
      floor: last?.isLast === true ? last.id : null,
    };
  }

  /** Returns the endpoints with the given ids. Omits missing endpoints. Uses the index application_endpoints_pkey. */
  these(environmentId: number, ids: readonly Id[]): Promise<ApplicationEndpointEntity[]> {
    return this.rows.find({ where: { environmentId, id: In([...ids]) } });
  }

  /**
   * Inserts an endpoint. Returns false if its uid is taken (application_endpoints_uid_idx). The transaction is aborted
   * in that case.
   */
  insert(row: ApplicationEndpointEntity): Promise<boolean> {
    return this.written(row, () => this.rows.insert(row));
  }

  /** Returns the row after the changes, or null if the new uid is taken. The transaction is aborted in that case. */
  async update(row: ApplicationEndpointEntity, changes: EndpointColumns): Promise<ApplicationEndpointEntity | null> {
    const { environmentId, id } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    const write = (): Promise<unknown> => this.rows.update({ environmentId, id }, columns);
    return (await this.written(row, write)) ? { ...row, ...columns } : null;
  }

  /** Removes the endpoint. Uses the index application_endpoints_pkey. */
  remove({ environmentId, id, applicationId }: ApplicationEndpointEntity): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows.delete({ environmentId, id });
      await this.applications.announce(environmentId, applicationId);
    });
  }

  private written(
    { environmentId, applicationId }: ApplicationEndpointEntity,
    write: () => Promise<unknown>,
  ): Promise<boolean> {
    return this.database.transaction(async () => {
      try {
        await write();
      } catch (error) {
        if (sqlState(error) === UNIQUE_VIOLATION) return false;
        throw error;
      }
      await this.applications.announce(environmentId, applicationId);
      return true;
    });
  }
}
