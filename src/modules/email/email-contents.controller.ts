import { Controller, Get, Header, Param, Query, StreamableFile } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiParam, getSchemaPath } from '@nestjs/swagger';
import { downloadOf } from '#engine/mail/file-download.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import { badRequest } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { MailViewItem, presentView } from '#modules/inbox/contract.dto.js';
import {
  attachmentIndex,
  EmailAttachmentLink,
  EmailAttachmentList,
  EmailAttachmentListQuery,
  presentLink,
  presentLinks,
} from './email-attachments.dto.js';
import { EmailContent, presentContent } from './email-contents.dto.js';
import { EmailContents } from './email-contents.js';

const EMAIL = { name: 'id', description: 'Id of the email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const ATTACHMENT = {
  name: 'attachment',
  description:
    "Position of the attachment in the email's `attachments`, starting at 0, to get the file. Id of the attachment (`att_0`), to get its description.",
  example: '0',
};
const ATTACHMENTS_LISTED = 20;

/** API that returns the contents of sent emails. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@ResendErrors()
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

  @Get('attachments')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the attachments of an email',
    description:
      'Returns each attachment with a link to its bytes, which is valid for one hour. Returns 404 if the email was erased, or if a scheduled email is not composed yet.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailAttachmentList, description: 'The attachments.' })
  async listEmailAttachments(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() { limit = ATTACHMENTS_LISTED, after, before }: EmailAttachmentListQuery,
  ): Promise<EmailAttachmentList> {
    if (after !== undefined && before !== undefined) throw badRequest('Send after or before, but not both.');
    const page = { limit, after: positionIn('after', after), before: positionIn('before', before) };
    return presentLinks(await this.contents.links(tenant, id), page);
  }

  @Get('attachments/:attachment')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get an attachment of an email',
    description:
      'For a position, returns the decoded file, always as a download. Types that a browser would run (HTML, SVG, XML, scripts) are served as application/octet-stream. For an attachment id, returns JSON with a link to the file, as the `resend` package expects.',
  })
  @ApiParam(EMAIL)
  @ApiParam(ATTACHMENT)
  @ApiExtraModels(EmailAttachmentLink)
  @ApiOkResponse({
    description: 'The decoded file, or its description with a link.',
    content: {
      '*/*': { schema: { type: 'string', format: 'binary' }, example: 'hello' },
      'application/json': { schema: { $ref: getSchemaPath(EmailAttachmentLink) } },
    },
  })
  async getEmailAttachment(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('attachment') attachment: string,
  ): Promise<StreamableFile | EmailAttachmentLink> {
    const index = attachmentIndex(attachment);
    if (index !== null) return presentLink(await this.contents.link(tenant, id, index));
    const { note, content } = await this.contents.file(tenant, id, attachment);
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

/** Parses the id of an attachment in a query parameter. Throws 400 for an invalid id. */
function positionIn(parameter: string, id: string | undefined): number | null {
  const index = id === undefined ? null : attachmentIndex(id);
  if (id !== undefined && index === null) throw badRequest(`${parameter} must be the id of an attachment (att_0).`);
  return index;
}
