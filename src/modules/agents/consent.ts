import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FormFields } from '#http/form-parser.js';
import { type Page, type PageOptions, sendPage } from '#http/pages/page.js';
import type { AuditActor } from '#kernel/audit.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import { GrantedKeys } from '#modules/auth/keys/granted-keys.js';
import { type SignedIn } from '#modules/auth/sessions.contract.js';
import { Sessions } from '#modules/auth/sessions/sessions.js';
import { Authorization, type AuthorizationRequest, type ConsentGiven } from './authorization.js';

/** Key lifetimes that the consent page offers, in days. The first one is preselected. */
export const LIFETIMES = [30, 1, 7, 90] as const;
const DAY_SECONDS = 86_400;

/** Provides the signed-in user and the submitted choices for the two pages on which users grant API keys. */
@Injectable()
export class Consent {
  constructor(
    private readonly authorization: Authorization,
    private readonly sessions: Sessions,
    private readonly keys: GrantedKeys,
    private readonly config: Config,
  ) {}

  /**
   * Returns the signed-in user. Without one, returns `null` and redirects to the sign-in page, which leads back to this
   * page.
   */
  async whoOrSignIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn | null> {
    const who = await this.sessions.read(request.headers.cookie);
    if (who !== null) return who;
    const back = new URLSearchParams({ return_to: this.config.basePath + request.url });
    reply.header('cache-control', 'no-store').redirect(`${this.config.basePath}/signin?${back.toString()}`, 303);
    return null;
  }

  /** Returns the user who submitted a form. Throws 401 without a session, and 403 for a form of another session. */
  async whoSent(request: FastifyRequest, form: FormFields): Promise<SignedIn> {
    const who = await this.sessions.read(request.headers.cookie);
    if (who === null)
      throw new ApiError('unauthenticated', 'You are no longer signed in. Start again from the application.');
    if (!this.sessions.holdsCsrfToken(who, form['csrf_token']))
      throw new ApiError(
        'insufficient_scope',
        'This form does not belong to your session. Start again from the application.',
      );
    return who;
  }

  /** Returns the user's choices. Throws 400 for a choice that the page does not offer the user. */
  async givenBy(
    who: SignedIn,
    { environment, lifetime }: FormFields,
    { ip, headers, id }: FastifyRequest,
  ): Promise<ConsentGiven> {
    const mode = who.modes.find((one) => one === environment);
    if (mode === undefined) throw badRequest('Choose one of your environments.');
    const days = LIFETIMES.find((one) => String(one) === lifetime);
    if (days === undefined) throw badRequest('Choose how long the access lasts.');
    const environmentId = await this.keys.environmentOf(who.organizationId, mode);
    return {
      granter: { memberId: who.member?.id ?? null, keyId: who.key?.id ?? null },
      environmentId,
      lifetimeSeconds: days * DAY_SECONDS,
      grantedBy: who.member?.email ?? `the key "${who.key?.name ?? ''}"`,
      approval: {
        organizationId: who.organizationId,
        actor: actorOf(who),
        origin: { ip, userAgent: headers['user-agent'], requestId: id },
      },
    };
  }

  /**
   * Returns the client's authorization request. If the request is invalid, throws 400. For a client that the
   * organization has approved, redirects to the client with the error and returns `null` instead of throwing. Redirects
   * to unapproved clients would be unsafe, because anyone can register a client (RFC 9700, section 4.11.2).
   */
  async asked(
    given: Readonly<Record<string, unknown>>,
    who: SignedIn,
    reply: FastifyReply,
  ): Promise<AuthorizationRequest | null> {
    const read = await this.authorization.read(given);
    if (read.kind === 'unsafe') throw badRequest(read.message);
    if (read.kind === 'asked') return read.request;
    const isApproved = await this.keys.hasKeyOf(who.organizationId, read.client.id);
    if (!isApproved)
      throw badRequest(
        `The application's request is invalid: ${read.message} Report it to the application's developer, or start again from the application.`,
      );
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(read.location, 302);
    return null;
  }

  show(reply: FastifyReply, page: Page, options: PageOptions = {}): void {
    sendPage(reply, page, { basePath: this.config.basePath, ...options });
  }

  get basePath(): string {
    return this.config.basePath;
  }
}

function actorOf({ member, key, sessionId }: SignedIn): AuditActor {
  const who =
    member === null
      ? { kind: 'key' as const, id: showId('ek', (key as { id: Id }).id) }
      : { kind: 'member' as const, id: showId('mbr', member.id) };
  return { ...who, session: showId('ses', sessionId) };
}
