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

/** Both are UTF-8 without saying so (RFC 7111, section 5.1). */
const TYPES = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;

/** Who did what (contract, section 2). */
@Section(
  'Audit',
  'Who changed what, from where. It can be added to and nothing else. Traffic is not in it: sends and received requests are events.',
)
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Scope('admin')
  @ApiOperation({
    summary: 'List the audit log',
    description: "Newest first: what was done in the key's environment, and for a live key what belongs to both.",
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
      'Oldest first, all of it, as JSON lines or as CSV in which no cell is a formula. An answer that breaks off is not whole: ask again from its last entry on.',
  })
  @ApiOkResponse({
    description: 'The entries.',
    content: {
      'application/x-ndjson': {
        schema: {
          type: 'string',
          description: 'One entry on each line.',
          example: '{"id":"aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1"}\n',
        },
      },
      'text/csv': {
        schema: {
          type: 'string',
          description: 'A line of headings, and one for each entry.',
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
