import { Injectable } from '@nestjs/common';
import { toApiError } from '#http/envelope.js';
import { IdempotencyStore } from '#http/idempotency.store.js';
import { mayHaveSucceeded } from '#http/idempotency-key.js';
import { type InProcessRequest, inProcessRequest } from '#http/in-process-request.js';
import { OrganizationQuota } from '#http/organization-quota.js';
import { Database } from '#kernel/database/database.js';
import { ApiError, invalid, noSuch } from '#kernel/errors.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';
import { Tenants } from '#modules/auth/environments/tenants.js';
import type { AcceptedEmailAnswer, EmailContent } from '#modules/email/contract.js';
import { EmailSubmission } from '#modules/email/email-submission.js';
import type { Caller } from '#modules/ledger/accept.contract.js';
import type { AcceptedEvent, AcceptedWebhook, ApplicationEvent, SendOptions, Webhook } from './contract.js';
import { FanOutController } from './fan-out.controller.js';
import { FanOutService } from './fan-out.service.js';
import { SendController } from './send.controller.js';
import { acceptedBody, SendService } from './send.service.js';

/**
 * Caller for messages that are sent from code. Under backpressure, the message waits, because this caller never
 * disconnects.
 */
const CALLER: Caller = { isGone: () => false };

/**
 * Sends messages from code, without HTTP. Can be injected in any module. The checks, quotas of the organization,
 * acceptance policies, limits and backpressure of the API apply.
 *
 * Every method resolves once the message is committed. If a method throws, nothing was accepted, and the error is the
 * `ApiError` that the API would return.
 *
 * Inside `Database.transaction`, and in a handler whose change is audited, the message is committed or rolled back with
 * that transaction.
 */
@Injectable()
export class MessageSender {
  constructor(
    private readonly sends: SendService,
    private readonly fanOuts: FanOutService,
    private readonly emails: EmailSubmission,
    private readonly tenants: Tenants,
    private readonly quota: OrganizationQuota,
    private readonly idempotency: IdempotencyStore,
    private readonly database: Database,
  ) {}

  /** Sends one payload to one target. Equivalent to `POST /v1/send`. */
  async send(tenant: Tenant, webhook: Webhook, options: SendOptions = {}): Promise<AcceptedWebhook> {
    const sender = await this.admitted(tenant);
    const route = { controller: SendController, handler: 'sendWebhook', path: '/v1/send' } as const;
    const request = inProcessRequest(sender, route, webhook, options.idempotencyKey);
    const { body, bodyText, idempotency } = request;
    return this.answered<AcceptedWebhook>(request, async () =>
      acceptedBody(
        await this.sends.send(sender, {
          destination: body.destination,
          eventType: body.event_type,
          headers: body.headers,
          payload: body.payload,
          bodyText,
          idempotency,
          traceparent: options.traceparent,
          caller: CALLER,
        }),
      ),
    );
  }

  /** Sends one payload to every subscribed endpoint of an application. Equivalent to `POST /v1/app/{app}/event`. */
  async emit(
    tenant: Tenant,
    application: string,
    event: ApplicationEvent,
    options: SendOptions = {},
  ): Promise<AcceptedEvent> {
    const sender = await this.admitted(tenant);
    const route = { controller: FanOutController, handler: 'emitEvent', path: eventPathOf(application) } as const;
    const request = inProcessRequest(sender, route, event, options.idempotencyKey);
    const { body, bodyText, idempotency } = request;
    return this.answered<AcceptedEvent>(request, async () => {
      const accepted = await this.fanOuts.emit(sender, {
        application,
        eventType: body.event_type,
        channels: body.channels ?? [],
        headers: body.headers,
        payload: body.payload,
        bodyText,
        idempotency,
        traceparent: options.traceparent,
        caller: CALLER,
      });
      return accepted.body;
    });
  }

  /** Sends an email. Equivalent to `POST /v1/emails`. */
  async sendEmail(
    tenant: Tenant,
    email: EmailContent,
    options: Pick<SendOptions, 'idempotencyKey'> = {},
  ): Promise<AcceptedEmailAnswer> {
    const sender = await this.admitted(tenant);
    const request = this.emails.read(sender, email, options.idempotencyKey);
    return this.answered<AcceptedEmailAnswer>(request, () => this.emails.accept(sender, request));
  }

  /**
   * Returns the tenant as stored, because the given one may be outdated or invented. Throws 404 if it does not exist,
   * and 429 above its quota.
   */
  private async admitted(given: Tenant): Promise<Tenant> {
    const tenant = await this.tenants.ofEnvironment(given.environmentId);
    if (tenant === null || tenant.organizationId !== given.organizationId || tenant.mode !== given.mode)
      throw noSuch('environment');
    await this.quota.count(tenant.organizationId);
    return tenant;
  }

  /** Runs `accept`, or returns the stored response if the idempotency key was already used. */
  private async answered<Answer>(
    { idempotency }: InProcessRequest<unknown>,
    accept: () => Promise<string>,
  ): Promise<Answer> {
    try {
      return JSON.parse(await this.database.joined(accept)) as Answer;
    } catch (error) {
      if (error instanceof AlreadyAnswered) return JSON.parse(error.answer.body) as Answer;
      const known = toApiError(error);
      const earlier =
        idempotency !== null && error instanceof ApiError && mayHaveSucceeded(error)
          ? await this.idempotency.find(idempotency)
          : null;
      if (earlier !== null) return JSON.parse(earlier.body) as Answer;
      // Throws an unexpected error unchanged, so that the log of the extension shows its stack.
      throw known.type === 'internal' ? error : known;
    }
  }
}

function eventPathOf(application: unknown): string {
  try {
    if (typeof application === 'string') return `/v1/app/${encodeURIComponent(application)}/event`;
  } catch {
    // Text with half of a surrogate pair cannot be encoded in UTF-8, so it cannot be a uid.
  }
  throw invalid([{ path: 'application', message: 'must be an `app_` id or a uid' }]);
}
