import { Body, Controller, Get, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { OwnOriginGuard } from '#http/pages/own-origin.guard.js';
import { type Page, sendPage } from '#http/pages/page.js';
import { ownPath } from '#http/pages/return-to.js';
import { RateLimit } from '#http/rate-limit.js';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { Sessions } from '#modules/auth/sessions/sessions.js';
import { SignInService } from './sign-in.service.js';
import { codePage, organizationPage, signedInPage, signedOutPage, signInPage } from './sign-in-pages.js';

/** Maximum number of sign-in attempts per client IP address, across all sign-in methods. */
const TRIES = { name: 'sign-in', count: 20, seconds: 300 };

/** Sign-in and sign-out pages. They are not part of the API. */
@ApiExcludeController()
@Controller()
export class SignInController {
  constructor(
    private readonly service: SignInService,
    private readonly sessions: Sessions,
    private readonly config: Config,
  ) {}

  @Get('signin')
  @ServesPage()
  async showSignIn(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query() query: Record<string, unknown>,
  ): Promise<void> {
    const who = await this.sessions.read(request.headers.cookie);
    const returnTo = this.returnTo(query['return_to']);
    if (who !== null && returnTo !== null) return this.leave(reply, returnTo);
    this.show(reply, who === null ? this.offer(returnTo, null) : signedInPage(who, this.config.basePath));
  }

  @Post('signin/key')
  @ServesPage()
  @TakesForm()
  @RateLimit(TRIES)
  @UseGuards(OwnOriginGuard)
  async signInWithKey(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Body() form: object): Promise<void> {
    const { key = '', return_to } = fieldsOf(form);
    const returnTo = this.returnTo(return_to);
    const cookie = await this.service.byKey(key.trim(), clientOf(request), request.headers.cookie);
    if (cookie === null)
      return this.show(
        reply,
        this.offer(returnTo, 'This is not a valid API key, or it was revoked or has expired.'),
        401,
      );
    this.enter(reply, cookie, returnTo);
  }

  @Post('signin/email')
  @ServesPage()
  @TakesForm()
  @RateLimit(TRIES)
  @UseGuards(OwnOriginGuard)
  async mailSignInCode(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() form: object,
  ): Promise<void> {
    const { email = '', return_to } = fieldsOf(form);
    const returnTo = this.returnTo(return_to);
    const ticket = await this.service.mailCode(email, request);
    if (ticket === null) return this.show(reply, this.offer(returnTo, 'A code cannot be sent to this address.'), 400);
    this.show(reply, codePage({ basePath: this.config.basePath, returnTo, fault: null }, ticket));
  }

  @Post('signin/code')
  @ServesPage()
  @TakesForm()
  @RateLimit(TRIES)
  @UseGuards(OwnOriginGuard)
  async signInWithCode(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() form: object,
  ): Promise<void> {
    const { ticket = '', code = '', member, return_to } = fieldsOf(form);
    const place = { basePath: this.config.basePath, returnTo: this.returnTo(return_to) };
    const outcome = await this.service.byCode(
      { ticket, code, memberId: member ?? null },
      clientOf(request),
      request.headers.cookie,
    );
    if (outcome.kind === 'wrong')
      return this.show(
        reply,
        codePage(
          {
            ...place,
            fault: 'This code is wrong, was already used, or has expired. After five wrong codes you need a new one.',
          },
          ticket,
        ),
        401,
      );
    if (outcome.kind === 'several')
      return this.show(reply, organizationPage(place, '/signin/code', { ticket, code }, outcome.memberships));
    this.enter(reply, outcome.cookie, place.returnTo);
  }

  @Post('signout')
  @ServesPage()
  @TakesForm()
  @UseGuards(OwnOriginGuard)
  async signOut(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Body() form: object): Promise<void> {
    const who = await this.sessions.read(request.headers.cookie);
    if (who !== null && !this.sessions.holdsCsrfToken(who, fieldsOf(form)['csrf_token']))
      throw new ApiError('insufficient_scope', 'This form does not belong to your session. Open the page again.');
    reply.header('set-cookie', await this.service.end(request.headers.cookie, who, clientOf(request)));
    this.show(reply, signedOutPage(this.config.basePath));
  }

  private returnTo(given: unknown): string | null {
    return ownPath(given, this.config.baseUrl);
  }

  private offer(returnTo: string | null, fault: string | null): Page {
    return signInPage({ basePath: this.config.basePath, returnTo, fault, ...this.service.ways() });
  }

  private show(reply: FastifyReply, page: Page, status = 200): void {
    sendPage(reply, page, { status, basePath: this.config.basePath });
  }

  private enter(reply: FastifyReply, cookie: string, returnTo: string | null): void {
    reply.header('set-cookie', cookie);
    this.leave(reply, returnTo ?? `${this.config.basePath}/signin`);
  }

  private leave(reply: FastifyReply, path: string): void {
    reply.header('cache-control', 'no-store').redirect(path, 303);
  }
}

/** Returns the form fields. Treats a missing body as an empty form. */
function fieldsOf(form: object | undefined): FormFields {
  return (form ?? {}) as FormFields;
}

function clientOf({ ip, headers, id }: FastifyRequest): {
  ip: string;
  userAgent: string | undefined;
  requestId: string;
} {
  return { ip, userAgent: headers['user-agent'], requestId: id };
}
