import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { AttentionItem, presentAttention } from './attention.dto.js';
import { AttentionList } from './attention.js';

/** Current problems of the environment. */
@Section('Attention', 'Current problems, with their start times and links to details.')
@Controller('v1/attention')
export class AttentionController {
  constructor(private readonly attention: AttentionList) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List current problems',
    description:
      'Reports disabled destinations and endpoints, open circuits, growing numbers of dead letters, failing verification, deliveries that no worker claims, email domains that are paused, close to being paused, or without their DNS records, and failed jobs. The call is cheap enough for a page that polls it every few seconds.',
  })
  @ApiOkResponse({ type: AttentionItem, description: 'Current problems; empty if there are none.' })
  async getAttention(@CurrentTenant() tenant: Tenant): Promise<AttentionItem> {
    return presentAttention(await this.attention.list(tenant));
  }
}
