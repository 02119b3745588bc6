import { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  StreamableFile,
} from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiConflictResponse,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiUnprocessableEntityResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit, HoldsContent } from '#http/audit.js';
import { BodyLimit } from '#http/body-limit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  BATCH_EXAMPLES,
  EmailAccepted,
  EmailBatchAccepted,
  EmailBatchBody,
  EmailBody,
  EmailCancelled,
  EmailDetail,
  EmailListQuery,
  EmailPage,
  KEPT,
  presentAccepted,
  presentBatch,
  presentCancelled,
  presentEmail,
  presentPage,
} from './emails.dto.js';
import { EmailsService } from './emails.service.js';
import { SendEmails } from './send-emails.js';

const EMAIL = { name: 'id', description: 'The email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
/** 10 MB of attachments in base64, two bodies of 1 MB, and what stands around them. */
const BODY_BYTES_MAX = 18 * 1024 * 1024;

/** Why an email that is not scheduled stays. */
const LEFT = { description: 'The email has left, or is leaving.' };

/** Emails that are sent. */
@Section('Emails', 'Emails that are sent: single and in batches, and what became of each recipient.')
@ApiExtraModels(EmailBatchBody)
@AllowUnknownFields()
@Controller('v1/emails')
export class EmailsController {
  constructor(
    private readonly sending: SendEmails,
    private readonly emails: EmailsService,
  ) {}

  @Post()
  @Audit('never')
  @HttpCode(202)
  @Scope('write')
  @BodyLimit(BODY_BYTES_MAX)
  @Idempotent()
  @ApiOperation({
    summary: 'Send an email',
    description:
      'Accepted once it is composed, signed and stored; every attempt sends the same bytes. The `resend` package sends here with its base URL set to this service and `/v1`.',
  })
  @ApiAcceptedResponse({
    type: EmailAccepted,
    description: 'Accepted: it is sent from now on or at its time, or every recipient is suppressed.',
  })
  async sendEmail(
    @CurrentTenant() tenant: Tenant,
    @Body() body: EmailBody,
    @Req() { idempotency }: FastifyRequest,
  ): Promise<EmailAccepted> {
    return presentAccepted(await this.sending.one(tenant, body, idempotency, KEPT));
  }

  @Post('batch')
  @Audit('never')
  @HttpCode(202)
  @Scope('write')
  @BodyLimit(BODY_BYTES_MAX)
  @Idempotent()
  @ApiOperation({
    summary: 'Send many emails',
    description:
      'Up to 100, each accepted by itself: a bad one, or one whose recipients are all suppressed, fails no other. The limits on attachments are those of the request.',
  })
  @ApiBody({
    schema: {
      oneOf: [
        { $ref: getSchemaPath(EmailBatchBody) },
        { type: 'array', items: { $ref: getSchemaPath(EmailBody) }, minItems: 1, maxItems: 100 },
      ],
    },
    examples: BATCH_EXAMPLES,
  })
  @ApiAcceptedResponse({ type: EmailBatchAccepted, description: 'What became of each email, in order.' })
  @ApiUnprocessableEntityResponse({
    description: 'It is no batch: no list of 1 to 100 emails, or more attachments than a request may have.',
  })
  async sendEmails(
    @CurrentTenant() tenant: Tenant,
    @Body() body: unknown,
    @Req() { idempotency }: FastifyRequest,
  ): Promise<EmailBatchAccepted> {
    return presentBatch(await this.sending.batch(tenant, body, idempotency, KEPT));
  }

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List emails',
    description:
      'Newest first. A page of one status, a tag or a recipient looks at a bounded number of emails: it may be short and not the last.',
  })
  @ApiOkResponse({ type: EmailPage, description: 'One page of emails.' })
  async listEmails(@CurrentTenant() tenant: Tenant, @Query() query: EmailListQuery): Promise<EmailPage> {
    return presentPage(await this.emails.list(tenant, query));
  }

  @Get(':id')
  @HoldsContent()
  @Scope('read')
  @ApiOperation({ summary: 'Get an email', description: 'With its recipients, attempts and timeline.' })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailDetail, description: 'The email.' })
  async getEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<EmailDetail> {
    return presentEmail(await this.emails.find(tenant, id));
  }

  @Delete(':id')
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Cancel a scheduled email',
    description: 'Removes it with everything that was stored of it. 409 once its time has come.',
  })
  @ApiParam(EMAIL)
  @ApiNoContentResponse({ description: 'It is not sent, and is gone.' })
  @ApiConflictResponse(LEFT)
  @TryNeeds('a scheduled email: send the example `scheduled` first')
  async deleteEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.emails.cancel(tenant, id);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Cancel a scheduled email (as Resend does)',
    description: 'The same as DELETE, for `resend.emails.cancel`.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailCancelled, description: 'It is not sent, and is gone.' })
  @ApiConflictResponse(LEFT)
  @TryNeeds('a scheduled email: send the example `scheduled` first')
  async cancelEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<EmailCancelled> {
    return presentCancelled(await this.emails.cancel(tenant, id));
  }

  @Get(':id/raw')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-disposition', 'attachment; filename="message.eml"')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get what is sent',
    description:
      'The message itself (RFC 5322), byte for byte as every attempt sends it. 404 once it was erased, and before a scheduled one is composed.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({
    description: 'The message.',
    content: {
      'message/rfc822': {
        schema: { type: 'string', format: 'binary' },
        example: 'Subject: Your order\r\n\r\nIt is on its way.',
      },
    },
  })
  async getRawEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<StreamableFile> {
    const { chunks, sizeBytes } = await this.emails.bytes(tenant, id);
    return new StreamableFile(Readable.from(chunks, { objectMode: false }), {
      type: 'message/rfc822',
      length: sizeBytes,
      disposition: 'attachment; filename="message.eml"',
    });
  }
}
