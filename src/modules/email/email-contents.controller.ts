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

const EMAIL = { name: 'id', description: 'Id of the email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const INDEX = {
  name: 'index',
  description: "Position of the attachment in the email's `attachments`, starting at 0.",
  example: '0',
};

/** Contents of emails. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@Controller('v1/emails/:id')
export class EmailContentsController {
  constructor(private readonly contents: EmailContents) {}

  @Get('content')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the content of an email',
    description:
      'Returns the text, HTML, headers and attachments, parsed from the message itself. Returns 404 if the email was erased, or if a scheduled email is not composed yet.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailContent, description: 'The content of the email.' })
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
      'Returns the decoded file, always as a download. Types that a browser would run (HTML, SVG, XML, scripts) are served as application/octet-stream.',
  })
  @ApiParam(EMAIL)
  @ApiParam(INDEX)
  @ApiOkResponse({
    description: 'The decoded file.',
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
    summary: 'Get a URL that displays an email',
    description: "Returns a URL that displays the email's HTML in a frame. The URL is valid for one minute.",
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: MailViewItem, description: 'The URL, its token and its expiry time.' })
  async viewEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<MailViewItem> {
    return presentView(await this.contents.view(tenant, id));
  }
}
