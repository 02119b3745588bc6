import { Injectable } from '@nestjs/common';
import { IdempotentWork } from '#http/idempotent-work.js';
import { type InProcessRequest, inProcessRequest } from '#http/in-process-request.js';
import type { Tenant } from '#kernel/tenant.js';
import { type EmailContent } from './contract.js';
import { EmailsController } from './emails.controller.js';
import { KEPT } from './emails.dto.js';
import { SendEmails } from './send-emails.js';

/** Accepts emails from other code in this process. Runs the same checks as `POST /v1/emails`. */
@Injectable()
export class EmailSubmission {
  constructor(
    private readonly sending: SendEmails,
    private readonly once: IdempotentWork,
  ) {}

  /** Validates an email, and returns the argument for `accept`. Throws 400 and 422 for invalid input. */
  read(tenant: Tenant, email: EmailContent, key: string | undefined): InProcessRequest<EmailContent> {
    const route = { controller: EmailsController, handler: 'sendEmail', path: '/v1/emails' } as const;
    return inProcessRequest(tenant, route, email, key);
  }

  /**
   * Accepts an email and returns the response body. Throws the errors of `SendEmails`, or `AlreadyAnswered` for a used
   * idempotency key.
   */
  async accept(tenant: Tenant, { body, idempotency }: InProcessRequest<EmailContent>): Promise<string> {
    if (idempotency === null) return KEPT.keep(await this.sending.one(tenant, body, null, KEPT)).body;
    const answer = await this.once.run(idempotency, async (reservation) =>
      KEPT.keep(await this.sending.one(tenant, body, reservation, KEPT)),
    );
    return answer.body;
  }
}
