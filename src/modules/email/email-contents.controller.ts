import { Controller, Get, Header, Param, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { downloadOf } from '#engine/mail/file-download.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { MailViewItem, presentView } from '#modules/inbox/contract.dto.js';
import { EmailContent, presentContent } from './email-contents.dto.js';
import { EmailContents } from './email-contents.js';

const EMAIL = { name: 'id', description: 'The email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const INDEX = { name: 'index', description: 'Which attachment, from 0, as the content lists them.', example: '0' };

/** What emails say. */
@Section('Emails', 'Emails that are sent: single and in batches, and what became of each recipient.')
@Controller('v1/emails/:id')
export class EmailContentsController {
  constructor(private readonly contents: EmailContents) {}

  @Get('content')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get what an email says',
    description:
      'Its text, HTML, headers and files, read out of the message itself. 404 once it was erased, and before a scheduled one is composed.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailContent, description: 'What it says.' })
  async getEmailContent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<EmailContent> {
    return presentContent(await this.contents.read(tenant, id));
  }

  @Get('attachments/:index')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get an attachment of an email',
    description:
      'Decoded, always as a download. What a browser would run (HTML, SVG, XML, scripts) is served as application/octet-stream.',
  })
  @ApiParam(EMAIL)
  @ApiParam(INDEX)
  @ApiOkResponse({
    description: 'The file.',
    content: { '*/*': { schema: { type: 'string', format: 'binary' }, example: 'hello' } },
  })
  async getEmailAttachment(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('index') index: string,
  ): Promise<StreamableFile> {
    const { note, content } = await this.contents.file(tenant, id, index);
    return new StreamableFile(content, { ...downloadOf(note), length: content.byteLength });
  }

  @Get('view')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get a view of an email',
    description: 'Where its HTML is shown: an address for a frame, good for a minute.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: MailViewItem, description: 'The view.' })
  async viewEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<MailViewItem> {
    return presentView(await this.contents.view(tenant, id));
  }
}
