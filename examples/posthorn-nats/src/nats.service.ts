import { Injectable } from '@nestjs/common';
import { Cursors, invalid, type Tenant } from 'posthorn';
import type { NatsSubjectHourEntity } from './nats.entities.js';
import { NatsStore, type Place } from './nats.store.js';
import { isSubjectTemplate, subjectOf } from './settings.js';

const LIST = { list: 'nats subjects', filters: {} };

/** Lists counts of published messages and previews subjects. */
@Injectable()
export class NatsService {
  constructor(
    private readonly store: NatsStore,
    private readonly cursors: Cursors,
  ) {}

  /** Throws 400 for a cursor that does not belong to this list and tenant. */
  async list(
    tenant: Tenant,
    { cursor, limit }: { cursor?: string; limit: number },
  ): Promise<{ rows: NatsSubjectHourEntity[]; nextCursor: string | null }> {
    const after = cursor === undefined ? null : placeIn(this.cursors.read(tenant, LIST, cursor));
    const rows = await this.store.list(tenant.environmentId, { after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const isMore = rows.length > limit && last !== undefined;
    return {
      rows: page,
      nextCursor: isMore
        ? this.cursors.issue(tenant, LIST, JSON.stringify([last.hour, last.stream, last.subject]))
        : null,
    };
  }

  /** Throws 422 for an invalid subject. */
  preview(template: string, eventType: string): string {
    if (!isSubjectTemplate(template))
      throw invalid([{ path: 'subject', message: 'must be a subject without wildcards' }]);
    return subjectOf(template, eventType);
  }
}

/** Parses the position stored in a cursor. Cursors are signed, so the text is always valid. */
function placeIn(text: string): Place {
  const [hour, stream, subject] = JSON.parse(text) as [string, string, string];
  return { hour: new Date(hour), stream, subject };
}
