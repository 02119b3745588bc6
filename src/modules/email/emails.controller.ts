import { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Patch,
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
  ApiHeader,
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
import { ResendErrors } from '#http/resend-errors.js';
import { AllowUnknownFields } from '#http/unknown-fields.js';
import { badRequest } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { BATCH_EXAMPLES, EmailBatchAccepted, EmailBatchBody, presentBatch } from './email-batch.dto.js';
import { EmailContents } from './email-contents.js';
import { EmailRescheduled, EmailScheduleBody, presentRescheduled, scheduleOf } from './email-schedule.dto.js';
import {
  EmailAccepted,
  EmailBody,
  EmailCancelled,
  EmailDetail,
  EmailDetailQuery,
  EmailListQuery,
  EmailPage,
  KEPT,
  presentAccepted,
  presentCancelled,
  presentEmail,
  presentPage,
} from './emails.dto.js';
import { EmailsService } from './emails.service.js';
import { SendEmails } from './send-emails.js';

const EMAIL = { name: 'id', description: 'Id of the email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
/** Maximum size of a request body: 10 MB of attachments in base64, 1 MB of HTML, 1 MB of text, and the JSON syntax. */
const BODY_BYTES_MAX = 18 * 1024 * 1024;

const BATCH_MODES = ['strict', 'permissive'] as const;

/** Descriptions of the 409 responses for emails that can no longer be rescheduled or canceled. */
const LEFT = { description: 'The email was already sent, or is being sent.' };
const ENDED = { description: 'The email was already sent or canceled, or is being sent.' };

/** API that sends emails and returns their status. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@ApiExtraModels(EmailBatchBody)
@AllowUnknownFields()
@ResendErrors()
@Controller('v1/emails')
export class EmailsController {
  constructor(
    private readonly sending: SendEmails,
    private readonly emails: EmailsService,
    private readonly contents: EmailContents,
  ) {}

  @Post()
  @Audit('never')
  @HttpCode(202)
  @Scope('write')
  @BodyLimit(BODY_BYTES_MAX)
  @Idempotent('create', { takesAnyKey: true })
  @ApiOperation({
    summary: 'Send an email',
    description:
      "Composes, signs and stores an email, and then accepts it. Every attempt sends the same bytes. To use the `resend` package with this operation, set its base URL to this service's URL followed by `/v1`.",
  })
  @ApiAcceptedResponse({
    type: EmailAccepted,
    description:
      'The email is accepted. It is sent now or at its scheduled time, unless every recipient is suppressed.',
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
  @Idempotent('create', { takesAnyKey: true })
  @ApiOperation({
    summary: 'Send many emails',
    description:
      'Accepts up to 100 emails, each one separately. An invalid email, or one whose recipients are all suppressed, does not affect the others. With `x-batch-validation: strict`, all emails are accepted or none. The limits on attachments apply to the whole request.',
  })
  @ApiHeader({
    name: 'x-batch-validation',
    required: false,
    description:
      '`strict`: if one email is invalid, the whole batch is rejected with 422. `details.fields` then gives the position and the field of each error. `permissive`: as without the header, each email is accepted or rejected separately, and the response also lists `errors`. The `resend` package sends `strict` by default.',
    schema: { type: 'string', enum: [...BATCH_MODES] },
    example: 'permissive',
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
  @ApiAcceptedResponse({
    type: EmailBatchAccepted,
    description: 'The result for each email, in the order of the request.',
  })
  @ApiUnprocessableEntityResponse({
    description:
      'The body is not a list of 1 to 100 emails, the attachments exceed the limits of a request, or an email of a strict batch is invalid.',
  })
  async sendEmails(
    @CurrentTenant() tenant: Tenant,
    @Body() body: unknown,
    @Req() { idempotency }: FastifyRequest,
    @Headers('x-batch-validation') validation?: string,
  ): Promise<EmailBatchAccepted> {
    const mode = BATCH_MODES.find((each) => each === validation);
    if (validation !== undefined && mode === undefined)
      throw badRequest('The header x-batch-validation must be strict or permissive.');
    const outcomes = await this.sending.batch(tenant, body, idempotency, KEPT, mode === 'strict');
    return presentBatch(outcomes, mode === 'permissive');
  }

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List emails',
    description:
      'Returns the newest emails first. With a filter for status, tag or recipient, each page scans a limited number of emails, so a page can be short although more pages follow.',
  })
  @ApiOkResponse({ type: EmailPage, description: 'One page of emails.' })
  async listEmails(@CurrentTenant() tenant: Tenant, @Query() query: EmailListQuery): Promise<EmailPage> {
    return presentPage(await this.emails.list(tenant, query));
  }

  @Get(':id')
  @HoldsContent()
  @Scope('read')
  @ApiOperation({
    summary: 'Get an email',
    description:
      'Returns the email with its recipients, attempts, timeline, HTML and text. To poll the status, send `content=false`. Otherwise, each call parses the whole message.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailDetail, description: 'The email.' })
  async getEmail(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() { content = true }: EmailDetailQuery,
  ): Promise<EmailDetail> {
    const view = await this.emails.find(tenant, id);
    return presentEmail(view, content ? await this.contents.bodiesOf(tenant, view) : {});
  }

  @Patch(':id')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change the time of a scheduled email',
    description:
      'Sends the email at another time. A time in the past means now. Nothing else of a scheduled email can be changed. Returns 409 after the email was released or canceled.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailRescheduled, description: 'The email and its new time.' })
  @ApiConflictResponse(ENDED)
  @TryNeeds('a scheduled email: send the example `scheduled` first')
  async updateEmail(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: EmailScheduleBody,
    @Req() request: FastifyRequest,
  ): Promise<EmailRescheduled> {
    const { id: email, dueAt, wasDueAt } = await this.emails.reschedule(tenant, id, scheduleOf(body));
    request.removed = { ...presentRescheduled(email, wasDueAt) };
    return presentRescheduled(email, dueAt);
  }

  @Delete(':id')
  @Audit()
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Cancel a scheduled email',
    description:
      'Cancels the email and deletes its content and attachments. The email stays readable with the status `canceled`. Returns 409 after the email was released. Canceling again has no effect.',
  })
  @ApiParam(EMAIL)
  @ApiNoContentResponse({ description: 'The email is canceled.' })
  @ApiConflictResponse(LEFT)
  @TryNeeds('a scheduled email: send the example `scheduled` first')
  async deleteEmail(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.emails.cancel(tenant, id);
  }

  @Post(':id/cancel')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent('create', { takesAnyKey: true })
  @ApiOperation({
    summary: 'Cancel a scheduled email (compatible with Resend)',
    description:
      'Does the same as `DELETE /v1/emails/{id}`. The `resend` package calls this operation in `resend.emails.cancel`.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailCancelled, description: 'The email is canceled.' })
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
    summary: 'Get the raw message of an email',
    description:
      'Returns the raw message (RFC 5322), byte for byte as every attempt sends it. Returns 404 if the email was erased, or if a scheduled email is not composed yet.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({
    description: 'The raw message.',
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
