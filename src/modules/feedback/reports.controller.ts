import { Readable } from 'node:stream';
import { Controller, Get, Header, Param, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentReport, presentReports, ReportItem, ReportListQuery, ReportPage } from './reports.dto.js';
import { ReportsService } from './reports.service.js';

const ID = { name: 'id', description: 'Id of the report.', example: 'rep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Shows the reports that other servers sent about emails. */
@Section(
  'Mail reports',
  'Unchanged reports of other mail servers and providers about sent emails. Includes reports that could not be matched to an email.',
)
@Controller('v1/reports')
export class ReportsController {
  constructor(private readonly reports: ReportsService) {}

  @Get()
  @Scope('admin')
  @ApiOperation({
    summary: 'List reports',
    description:
      'Lists reports that refer to an email of this environment, newest first. The reference may be unproven.',
  })
  @ApiOkResponse({ type: ReportPage, description: 'One page of reports.' })
  async listReports(@CurrentTenant() tenant: Tenant, @Query() query: ReportListQuery): Promise<ReportPage> {
    return presentReports(await this.reports.list(tenant, query));
  }

  @Get(':id')
  @Scope('admin')
  @ApiOperation({
    summary: 'Get a report',
    description: 'Returns the type of the report and the result of processing it.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: ReportItem, description: 'The report.' })
  @TryNeeds('a report that another mail server sent')
  async getReport(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ReportItem> {
    return presentReport(await this.reports.find(tenant, id));
  }

  @Get(':id/raw')
  @Scope('admin')
  @Header('cache-control', 'no-store')
  @Header('content-disposition', 'attachment; filename="report.eml"')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get the original report',
    description: 'Returns the original message (RFC 5322) byte for byte, or the JSON of a notification.',
  })
  @ApiParam(ID)
  @ApiOkResponse({
    description: 'The original report.',
    content: {
      'message/rfc822': {
        schema: { type: 'string', format: 'binary' },
        example: 'Subject: Undelivered Mail Returned to Sender\r\n\r\n…',
      },
    },
  })
  @TryNeeds('a report that another mail server sent')
  async getRawReport(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<StreamableFile> {
    const { raw, type } = await this.reports.raw(tenant, id);
    return new StreamableFile(Readable.from([raw], { objectMode: false }), {
      type,
      length: raw.length,
      disposition: 'attachment; filename="report.eml"',
    });
  }
}
