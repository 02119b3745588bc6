import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { EmailReplyListQuery, EmailReplyPage, presentReplies } from './email-replies.dto.js';
import { EmailReplies } from './email-replies.js';

const EMAIL = { name: 'id', description: 'Id of the email.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API for the replies to sent emails. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@ResendErrors()
@Controller('v1/emails/:id/replies')
export class EmailRepliesController {
  constructor(private readonly replies: EmailReplies) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the replies to an email',
    description:
      'Returns the messages from all aliases that name the Message-ID of the email in `In-Reply-To` or `References`, newest first. A Message-ID does not authenticate the sender, so check `auth` as well.',
  })
  @ApiParam(EMAIL)
  @ApiOkResponse({ type: EmailReplyPage, description: 'One page of replies.' })
  async listEmailReplies(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() query: EmailReplyListQuery,
  ): Promise<EmailReplyPage> {
    return presentReplies(await this.replies.list(tenant, id, query));
  }
}
