import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { OperatorOnly } from '#http/access.js';
import { auditFilter, AuditListQuery, AuditPage, presentAudit } from './audit.dto.js';
import { AuditService } from './audit.service.js';

/** Audit log of the installation itself. */
@ApiTags('Operator')
@Controller('v1/operator')
export class OperatorAuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @OperatorOnly()
  @ApiOperation({
    summary: "List the installation's audit log",
    description:
      'Returns the newest entries first. The log contains actions of the operator, and sign-in attempts with an unknown address. It contains no entries of any organization.',
  })
  @ApiOkResponse({ type: AuditPage, description: 'One page of entries.' })
  async listOperatorAudit(@Query() query: AuditListQuery): Promise<AuditPage> {
    const { rows, nextCursor } = await this.audit.listOfInstallation(auditFilter(query), query);
    return { data: rows.map(presentAudit), next_cursor: nextCursor };
  }
}
