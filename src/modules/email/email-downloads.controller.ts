import { Controller, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { downloadOf } from '#engine/mail/file-download.js';
import { Public } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { EmailDownloadQuery } from './email-attachments.dto.js';
import { EmailContents } from './email-contents.js';

/** Downloads of email attachments through links that need no API key. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@Controller('v1/email-attachments')
export class EmailDownloadsController {
  constructor(private readonly contents: EmailContents) {}

  @Get()
  @Public()
  @HoldsContent()
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('referrer-policy', 'no-referrer')
  @Header('x-content-type-options', 'nosniff')
  @TryNeeds('a `download_url`: list the attachments of an email first')
  @ApiOperation({
    summary: 'Download an attachment of an email by its link',
    description:
      'Requires the token of a `download_url` instead of an API key. Returns the decoded file, always as a download. Types that a browser would run (HTML, SVG, XML, scripts) are served as application/octet-stream.',
  })
  @ApiOkResponse({
    description: 'The decoded file.',
    content: { '*/*': { schema: { type: 'string', format: 'binary' }, example: 'hello' } },
  })
  @ApiNotFoundResponse({
    description: 'The link is invalid, it has expired, or the email was erased.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async downloadEmailAttachment(@Query() { token }: EmailDownloadQuery): Promise<StreamableFile> {
    const { note, content } = await this.contents.fileOf(token);
    return new StreamableFile(content, { ...downloadOf(note), length: content.byteLength });
  }
}
