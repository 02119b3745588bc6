import { Readable } from 'node:stream';
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, StreamableFile } from '@nestjs/common';
import { ApiConflictResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { downloadOf } from '#engine/mail/file-download.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit, HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { AliasReplay } from '../aliases/alias-replay.js';
import { MailViewItem, presentView } from '../contract.dto.js';
import { MessageLinksBody, MessageLinksItem, presentLinks } from './message-links.dto.js';
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
  description: 'Id of the alias, or its full address (percent-encoded).',
  example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const MESSAGE = { name: 'messageId', description: 'Id of the message.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const INDEX = { name: 'index', description: 'Index of the attachment in the message, starting at 0.', example: '0' };
const SANDBOXED = "sandbox; default-src 'none'";

/** Shows, releases and replays messages that aliases received. */
@Section('Received mail', 'Messages that aliases received: their senders, contents, files and original bytes.')
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
    summary: 'List the messages of an alias',
    description:
      'Returns the newest messages first, including quarantined messages. With filters, a page scans a limited number of messages. A short page may then not be the last one.',
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
    description:
      'Returns the contents of the message and the results of its checks. Returns 404 after the message was erased.',
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
    summary: 'Get the original of a received message',
    description:
      'Returns the message byte for byte as it was received (RFC 5322), so that its signatures can be verified again.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({
    description: 'The raw message.',
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
    summary: 'Get an attachment of a received message',
    description:
      'Returns the decoded file, always as a download. Types that a browser would execute (HTML, SVG, XML, scripts) are served as application/octet-stream.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiParam(INDEX)
  @ApiOkResponse({
    description: 'The decoded file.',
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
    summary: 'Get a URL that displays a received message',
    description:
      'Returns a URL that shows the HTML in a frame. The URL is valid for one minute. Returns 404 for a message without HTML.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: MailViewItem, description: 'The URL, its token and its expiry time.' })
  @TryNeeds('a message that came to the alias over SMTP')
  async viewReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<MailViewItem> {
    return presentView(await this.messages.view(tenant, alias, id));
  }

  @Post('messages/:messageId/links')
  @Audit()
  @HttpCode(200)
  @HoldsContent()
  @Scope('write')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Create signed links to the files of a message',
    description:
      'Returns URLs of the original message and of its attachments. The URLs need no key. They cannot be revoked, but they stop working when they expire or when the message is erased.',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: MessageLinksItem, description: 'The links and the time when they expire.' })
  @TryNeeds('a message that came to the alias over SMTP')
  async linkReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
    @Body() { expires_in: seconds = 3_600 }: MessageLinksBody,
  ): Promise<MessageLinksItem> {
    return presentLinks(await this.messages.linksTo(tenant, alias, id, seconds));
  }

  @Post('messages/:messageId/release')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Release a quarantined message',
    description:
      'Sends the message to the current destinations of the alias. No check is repeated, and the verdicts stay unchanged. A message can be released only once. Returns 409 if the message is not quarantined (`details.reason: "not_quarantined"`) or if no destination of the alias accepts it (`"no_destination"`).',
  })
  @ApiParam(ALIAS)
  @ApiParam(MESSAGE)
  @ApiOkResponse({ type: ReceivedMessageDetail, description: 'The released message.' })
  @ApiConflictResponse({
    description: 'The message is not quarantined, or the alias has no destination.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('a message that was quarantined')
  async releaseReceivedMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Param('messageId') id: string,
  ): Promise<ReceivedMessageDetail> {
    await this.releases.release(tenant, alias, id);
    // The release is committed after this response is built, so the message must be read in the transaction of the
    // release.
    return (await this.messages.detail(tenant, alias, id, true)) as unknown as ReceivedMessageDetail;
  }

  @Post('replay')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay the messages of an alias',
    description:
      'Sends the messages of a time range to the current destinations of the alias again, in any state except quarantined. Each call processes at most 1,000 messages, newest first. Continue with `next_cursor`. A call without `since`, `until` and `dry_run` is rejected with 422, because it would send every stored message again.',
  })
  @ApiParam(ALIAS)
  @ApiOkResponse({
    type: AliasReplayItem,
    description: 'The numbers of messages that are sent again. With `dry_run`, the numbers that would be sent.',
  })
  async replayAlias(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Body() body: AliasReplayBody,
  ): Promise<AliasReplayItem> {
    return presentReplay(await this.replays.run(tenant, alias, body));
  }
}
