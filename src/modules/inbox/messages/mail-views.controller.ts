import { Controller, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { MAIL_DOCUMENT_POLICY } from '#engine/mail/mail-document.js';
import { Public } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { MessageDocuments } from './message-documents.js';

/** Query parameters for the HTML of a message. */
export class MailViewQuery {
  /** Token of the view. */
  @ApiProperty({
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsbnVsbCwxNzk1NTk3ODYwMDAwXQ.c2lnbmF0dXJl',
  })
  @IsString()
  @MaxLength(512)
  token: string;
}

/** Serves the HTML of messages as documents that are safe to display in a browser. */
@Section('Mail views', 'The HTML of a sent or received message, as a document that runs no scripts and loads nothing.')
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
      'Takes a token instead of a key, because a frame cannot send headers. Images that are attached to the message are embedded. The document loads nothing else and contains no scripts, forms or external links. Only pages of this origin may frame the document.',
  })
  @ApiOkResponse({
    description: 'The document, at most 1 MB without its images.',
    content: { 'text/html; charset=utf-8': { schema: { type: 'string' }, example: '<p>It is on its way.</p>' } },
  })
  @ApiNotFoundResponse({
    description: 'The view does not exist, it has expired, or the message has been deleted.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async showMail(@Query() { token }: MailViewQuery): Promise<StreamableFile> {
    const document = await this.documents.findByToken(token);
    return new StreamableFile(document, { type: 'text/html; charset=utf-8', length: document.byteLength });
  }
}
