import { Controller, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { MAIL_DOCUMENT_POLICY } from '#engine/mail/mail-document.js';
import { Public } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { MessageDocuments } from './message-documents.js';

/** Which view. */
export class MailViewQuery {
  /** The `token` of a view. */
  @ApiProperty({
    maxLength: 512,
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  token: string;
}

/** The HTML of messages, as browsers may show it. */
@Section(
  'Mail views',
  'The HTML of a message, sent or received, as a document that runs nothing and asks nobody for anything.',
)
@Controller('v1/mail-views')
export class MailViewsController {
  constructor(private readonly documents: MessageDocuments) {}

  @Get()
  @Public()
  @HoldsContent()
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', MAIL_DOCUMENT_POLICY)
  @Header('cross-origin-resource-policy', 'same-origin')
  @Header('referrer-policy', 'no-referrer')
  @Header('x-content-type-options', 'nosniff')
  @Header('x-dns-prefetch-control', 'off')
  @ApiOperation({
    summary: 'Show the HTML of a message',
    description:
      'With a token instead of a key, since a frame can send no header. Images that the message brings along are a part of it, and nothing else is loaded: no script, no form, ' +
      'no remote image or style, no link that leads away. Only pages of this origin may frame it.',
  })
  @ApiOkResponse({
    description: 'The document, at most 1 MB of it beside its images.',
    content: { 'text/html; charset=utf-8': { schema: { type: 'string' }, example: '<p>It is on its way.</p>' } },
  })
  @ApiNotFoundResponse({
    description: 'There is no such view, its minute is over, or the message is gone.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async showMail(@Query() { token }: MailViewQuery): Promise<StreamableFile> {
    const document = await this.documents.findByToken(token);
    return new StreamableFile(document, { type: 'text/html; charset=utf-8', length: document.byteLength });
  }
}
