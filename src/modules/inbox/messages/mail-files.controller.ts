import { Readable } from 'node:stream';
import { Controller, Get, Header, Query, StreamableFile } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { downloadOf } from '#engine/mail/file-download.js';
import { Public } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { MessageFiles } from './message-files.js';

/** Query parameters for a file of a message. */
export class MailFileQuery {
  /** Token of the signed link. */
  @ApiProperty({
    example: 'WzEsIjAxOWFhNGMwLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMCIsInJhdyIsMTc5NTU5Nzg2MDAwMF0.c2lnbmF0dXJl',
  })
  @IsString()
  @MaxLength(512)
  token: string;
}

/** Serves files of received messages to requests with a signed link. */
@Section('Mail files', 'Originals and attachments of received messages, by signed links that need no key.')
@Controller('v1/mail-files')
export class MailFilesController {
  constructor(private readonly files: MessageFiles) {}

  @Get()
  @Public()
  @HoldsContent()
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('referrer-policy', 'no-referrer')
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get a file by a signed link',
    description:
      'Returns the original of a received message or one of its attachments, always as a download. Types that a browser would execute are served as application/octet-stream. The link comes from the event of an alias with `link_ttl_seconds`, or from POST /v1/aliases/{alias}/messages/{messageId}/links.',
  })
  @ApiOkResponse({
    description: 'The file.',
    content: { '*/*': { schema: { type: 'string', format: 'binary' }, example: 'hello' } },
  })
  @ApiNotFoundResponse({
    description: 'The link is invalid or expired, or the message has been erased.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('a signed link')
  async getMailFile(@Query() { token }: MailFileQuery): Promise<StreamableFile> {
    const file = await this.files.open(token);
    if ('content' in file)
      return new StreamableFile(file.content, { ...downloadOf(file.note), length: file.content.byteLength });
    return new StreamableFile(Readable.from(file.chunks, { objectMode: false }), {
      type: 'message/rfc822',
      length: file.sizeBytes,
      disposition: 'attachment; filename="message.eml"',
    });
  }
}
