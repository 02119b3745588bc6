import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { AttentionItem, presentAttention } from './attention.dto.js';
import { AttentionList } from './attention.js';

/** What is broken. */
@Section('Attention', 'What is broken now, since when, and where to look.')
@Controller('v1/attention')
export class AttentionController {
  constructor(private readonly attention: AttentionList) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List what needs attention',
    description:
      'Disabled destinations and endpoints, open circuits, dead letters that grow, failing verification, deliveries that nobody takes up, email domains that lost their records, and jobs that failed. One call, cheap enough for a page that asks every few seconds.',
  })
  @ApiOkResponse({ type: AttentionItem, description: 'What is broken; nothing when all is well.' })
  async getAttention(@CurrentTenant() tenant: Tenant): Promise<AttentionItem> {
    return presentAttention(await this.attention.list(tenant));
  }
}
