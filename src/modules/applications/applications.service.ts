import { Injectable } from '@nestjs/common';
import { COUNTED_MAX, type CursorQuery, Cursors } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { Ids, idTimeMs } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { ApplicationReference, uidFault } from './application-reference.js';
import type { ApplicationEntity } from './applications.entities.js';
import { ApplicationsStore } from './applications.store.js';
import { metadataFaults } from './metadata.js';

/** Fields that a caller sets. Omitted fields keep their values or get their defaults. */
export interface ApplicationFields {
  uid?: string | null;
  name?: string;
  metadata?: Record<string, string> | null;
}

export interface ApplicationRows {
  rows: ApplicationEntity[];
  nextCursor: string | null;
  /** Number of matching applications, up to a limit. Null if it was not requested. */
  count: number | null;
}

export interface ApplicationQuery {
  search?: string;
  count?: boolean;
  cursor?: string;
  limit?: number;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class ApplicationsService {
  constructor(
    private readonly store: ApplicationsStore,
    private readonly reference: ApplicationReference,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /**
   * Returns an application. Throws 404 if it does not exist. In all methods, `application` is an `app_` id or a uid.
   */
  async find({ environmentId }: Tenant, application: string): Promise<ApplicationEntity> {
    const row = await this.store.find(environmentId, await this.reference.resolve(environmentId, application));
    if (row === null) throw noSuch('application');
    return row;
  }

  /**
   * Creates an application. Throws 422 for invalid fields, and 409 for a taken uid. With `orFind`, returns the
   * application with that uid instead of 409.
   */
  async create(
    { environmentId }: Tenant,
    fields: ApplicationFields,
    orFind: boolean,
  ): Promise<{ row: ApplicationEntity; isNew: boolean }> {
    const { uid = null, metadata } = fields;
    const name = fields.name ?? uid;
    const faults = fieldFaults(fields);
    if (name === null) throw invalid([...faults, { path: 'name', message: 'is required without a uid' }]);
    if (faults.length > 0) throw invalid(faults);
    const id = this.ids.next();
    const at = new Date(idTimeMs(id));
    const row = { environmentId, id, uid, name, metadata: metadata ?? {}, createdAt: at, updatedAt: at };
    if (await this.store.insert(row)) return { row, isNew: true };
    const known = orFind && uid !== null ? await this.store.findByUid(environmentId, uid) : null;
    if (known === null) throw taken();
    return { row: known, isNew: false };
  }

  /**
   * Updates an application. Throws 404 if it does not exist, 422 for invalid fields, and 409 if the new uid is taken.
   * An error changes nothing.
   */
  async update(
    tenant: Tenant,
    application: string,
    { uid, name, metadata }: ApplicationFields,
  ): Promise<ApplicationEntity> {
    const { environmentId } = tenant;
    const faults = fieldFaults({ uid, name, metadata });
    if (faults.length > 0) throw invalid(faults);
    const id = await this.reference.resolve(environmentId, application);
    return this.database.transaction(async () => {
      const row = await this.store.hold(environmentId, id, 'alone');
      if (row === null) throw noSuch('application');
      const changes = {
        ...(uid !== undefined && { uid }),
        ...(name !== undefined && { name }),
        ...(metadata !== undefined && { metadata: metadata ?? {} }),
      };
      const updated = await this.store.update(row, changes);
      if (updated === null) throw taken();
      return updated;
    });
  }
}

@Injectable()
export class ApplicationList {
  constructor(
    private readonly store: ApplicationsStore,
    private readonly cursors: Cursors,
  ) {}

  async page(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT, count = false, ...filters }: ApplicationQuery,
  ): Promise<ApplicationRows> {
    const list: CursorQuery = { list: 'applications', filters };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const [rows, counted] = await Promise.all([
      this.store.page(tenant.environmentId, { ...filters, beforeId }, limit + 1),
      count ? this.store.count(tenant.environmentId, filters, COUNTED_MAX) : null,
    ]);
    return { ...this.cursors.page(tenant, list, rows, limit, ({ id }) => id), count: counted };
  }
}

function fieldFaults({ uid, metadata }: ApplicationFields): Fault[] {
  const fault = typeof uid === 'string' ? uidFault(uid, 'app') : null;
  return [...(fault === null ? [] : [{ path: 'uid', message: fault }]), ...(metadata ? metadataFaults(metadata) : [])];
}

const taken = (): Error =>
  conflict('Another application has this uid. Choose another one, or use that application.', { field: 'uid' });
