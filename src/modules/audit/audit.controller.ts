import { Readable } from 'node:stream';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { AuditExportQuery, auditFilter, AuditListQuery, AuditPage, presentAudit } from './audit.dto.js';
import { AuditService } from './audit.service.js';

/** Both media types imply UTF-8 without a charset parameter (RFC 7111, section 5.1). */
const TYPES = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;

/** The audit log. */
@Section(
  'Audit',
  'The record of who changed what, and from which address. The log is append-only. It does not record traffic, because sends and received requests are recorded as events.',
)
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Scope('admin')
  @ApiOperation({
    summary: 'List the audit log',
    description:
      "Returns the newest entries first. The log contains actions in the key's environment. With a live key, it also contains actions that affect both environments.",
  })
  @ApiOkResponse({ type: AuditPage, description: 'One page of entries.' })
  async listAudit(@CurrentTenant() tenant: Tenant, @Query() query: AuditListQuery): Promise<AuditPage> {
    const { rows, nextCursor } = await this.audit.list(tenant, auditFilter(query), query);
    return { data: rows.map(presentAudit), next_cursor: nextCursor };
  }

  @Get('export')
  @Scope('admin')
  @RateLimit({ name: 'audit-export', count: 10, seconds: 60 })
  @ApiOperation({
    summary: 'Export the audit log',
    description:
      'Streams all entries, oldest first, as JSON lines or CSV. In the CSV, cells that a spreadsheet would run as formulas are escaped. If the stream breaks off, repeat the call with `since` set to the time of the last entry received.',
  })
  @ApiOkResponse({
    description: 'One page of audit entries.',
    content: {
      'application/x-ndjson': {
        schema: {
          type: 'string',
          description: 'One entry per line.',
          example: '{"id":"aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}\n',
        },
      },
      'text/csv': {
        schema: {
          type: 'string',
          description: 'A header row, followed by one line per entry.',
          example: 'id,at,actor_kind\r\n',
        },
      },
    },
  })
  exportAudit(@CurrentTenant() tenant: Tenant, @Query() query: AuditExportQuery, @Res() reply: FastifyReply): void {
    const { format = 'jsonl' } = query;
    const lines = this.audit.export(tenant, auditFilter(query), format);
    reply.headers({
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="audit.${format}"`,
      'x-content-type-options': 'nosniff',
    });
    reply.send(Readable.from(lines));
  }
}
