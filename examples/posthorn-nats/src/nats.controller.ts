import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope, Section, type Tenant } from 'posthorn';
import {
  NatsSubjectPage,
  NatsSubjectPreview,
  NatsSubjectPreviewBody,
  NatsSubjectsQuery,
  presentSubject,
} from './nats.dto.js';
import { NatsService } from './nats.service.js';

/**
 * Handler names become operation ids. They contain the name of the extension so that they do not collide with other
 * operations.
 */
@Section('NATS', 'Deliveries to NATS JetStream.')
@Controller('v1/nats')
export class NatsController {
  constructor(private readonly nats: NatsService) {}

  @Get('subjects')
  @Scope('read')
  @ApiOperation({
    summary: 'List published messages',
    description: 'Counts messages per subject and hour for the last 30 days, newest first.',
  })
  @ApiOkResponse({ type: NatsSubjectPage, description: 'One page of counts.' })
  async listNatsSubjects(
    @CurrentTenant() tenant: Tenant,
    @Query() { cursor, limit = 50 }: NatsSubjectsQuery,
  ): Promise<NatsSubjectPage> {
    const { rows, nextCursor } = await this.nats.list(tenant, { cursor, limit });
    return { data: rows.map(presentSubject), next_cursor: nextCursor };
  }

  @Post('subjects/preview')
  @Scope('read')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Try a subject',
    description: 'Computes the subject of an event. Nothing is stored or published.',
  })
  @ApiOkResponse({ type: NatsSubjectPreview, description: 'Subject to which an event of this type is published.' })
  previewNatsSubject(@Body() { subject, event_type: eventType }: NatsSubjectPreviewBody): NatsSubjectPreview {
    return { subject: this.nats.preview(subject, eventType) };
  }
}
