import { Readable } from 'node:stream';
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, StreamableFile } from '@nestjs/common';
import { ApiConflictResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { downloadOf } from '#engine/mail/file-download.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { AliasReplay } from '../aliases/alias-replay.js';
import { MailViewItem, presentView } from '../contract.dto.js';
import { MessageRelease } from './message-release.js';
import {
  AliasReplayBody,
  AliasReplayItem,
  presentMessages,
  presentReplay,
  ReceivedMessageDetail,
  ReceivedMessageListQuery,
  ReceivedMessagePage,
} from './messages.dto.js';
import { MessagesService } from './messages.service.js';

const ALIAS = {
  name: 'alias',
  description: 'The alias: its id, or its whole address (percent-encoded).',
  example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const MESSAGE = { name: 'messageId', description: 'The message.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const INDEX = { name: 'index', description: 'Which attachment, from 0, as the message lists them.', example: '0' };
const SANDBOXED = "sandbox; default-src 'none'";

/** What came to aliases. */
@Section(
  'Received mail',
  'Messages that came to aliases: whom they are from, what they say, their files, and the message itself.',
)
@Controller('v1/aliases/:alias')
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    private readonly replays: AliasReplay,
    private readonly releases: MessageRelease,
  ) {}

  @Get('messages')
  @Scope('read')
  @ApiOperation({
    summary: 'List messages',
    description:
      'Newest first, quarantined ones too. A page with a filter looks at a bounded number of messages: it may be short and not the last.',
  })
  @ApiParam(ALIAS)
  @ApiOkResponse({ type: ReceivedMessagePage, description: 'One page of messages.' })
  async listReceivedMessages(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Query() query: ReceivedMessageListQuery,
  ): Promise<ReceivedMessagePage> {
    return presentMessages(await this.messages.list(tenant, alias, query));
  }

  @Get('messages/:messageId')
  @Scope('read')
  @ApiOperation({
    summary: 'Get a message',
    description: 'What it says and what was found out about it. 404 once it was erased.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: ReceivedMessageDetail, description: 'The message.' })
  @TryNeeds('a message that came to the alias over SMTP')
  async getReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<ReceivedMessageDetail> {
    return (await this.messages.detail(tenant, alias, id)) as unknown as ReceivedMessageDetail;
  }

  @Get('messages/:messageId/raw')
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', SANDBOXED)
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get the message itself',
    description: 'Byte for byte as it came (RFC 5322), so that its signatures can be verified again.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({
    description: 'The message.',
    content: {
      'message/rfc822': {
        schema: { type: 'string', format: 'binary' },
        example: 'Subject: Order 42\r\n\r\nWhere is it?',
      },
    },
  })
  @TryNeeds('a message that came to the alias over SMTP')
  async getRawReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<StreamableFile> {
    const { chunks, sizeBytes } = await this.messages.raw(tenant, alias, id);
    return new StreamableFile(Readable.from(chunks, { objectMode: false }), {
      type: 'message/rfc822',
      length: sizeBytes,
      disposition: 'attachment; filename="message.eml"',
    });
  }

  @Get('messages/:messageId/attachments/:index')
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-security-policy', SANDBOXED)
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get an attachment',
    description:
      'Decoded, always as a download. What a browser would run (HTML, SVG, XML, scripts) is served as application/octet-stream.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiParam(INDEX)
  @ApiOkResponse({
    description: 'The file.',
    content: { '*/*': { schema: { type: 'string', format: 'binary' }, example: 'hello' } },
  })
  @TryNeeds('a message that came to the alias over SMTP')
  async getReceivedAttachment(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
    @Param('index') index: string,
  ): Promise<StreamableFile> {
    const { note, content } = await this.messages.attachment(tenant, alias, id, index);
    return new StreamableFile(content, { ...downloadOf(note), length: content.byteLength });
  }

  @Get('messages/:messageId/view')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get a view of a message',
    description: 'Where its HTML is shown: an address for a frame, good for a minute. 404 for a message without HTML.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: MailViewItem, description: 'The view.' })
  @TryNeeds('a message that came to the alias over SMTP')
  async viewReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<MailViewItem> {
    return presentView(await this.messages.view(tenant, alias, id));
  }

  @Post('messages/:messageId/release')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Release a quarantined message',
    description:
      'Sends it to the destinations of the alias as they are now. Its verdicts stay, and nothing is checked again: the caller decides that the message is good. ' +
      '409 when the message is not quarantined (`details.reason: "not_quarantined"`), so that it is released once, and when no destination of the alias takes it (`"no_destination"`).',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: ReceivedMessageDetail, description: 'The message, which is on its way.' })
  @ApiConflictResponse({
    description: 'The message is not quarantined, or the alias leads nowhere.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('a message that was quarantined')
  async releaseReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<ReceivedMessageDetail> {
    await this.releases.release(tenant, alias, id);
    // The release is committed with its audit entry, after the answer is made: other connections do not see it yet.
    return (await this.messages.detail(tenant, alias, id, true)) as unknown as ReceivedMessageDetail;
  }

  @Post('replay')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay an alias',
    description:
      'Sends what came in a time again, to the destinations of the alias as they are now, whatever became of it. At most 1,000 messages a call, newest first: ' +
      'go on with `next_cursor`. Quarantined messages are never sent again.',
  })
  @ApiParam(ALIAS)
  @ApiOkResponse({ type: AliasReplayItem, description: 'What is sent again, or would be.' })
  async replayAlias(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Body() body: AliasReplayBody,
  ): Promise<AliasReplayItem> {
    return presentReplay(await this.replays.run(tenant, alias, body));
  }
}
