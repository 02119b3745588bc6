import { Controller, Get, Logger, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { html } from '#http/pages/html.js';
import { sendPage } from '#http/pages/page.js';
import { ownPath } from '#http/pages/return-to.js';
import { RateLimit } from '#http/rate-limit.js';
import { Config } from '#kernel/config.js';
import { notFound } from '#kernel/errors.js';
import type { OidcProvider } from '#kernel/oidc-provider.js';
import { IdentityProvider, NotProvided } from './identity-provider.js';
import { PendingCookie } from './pending-cookie.js';
import { ProviderAway } from './provider-fetch.js';
import { SignInService } from './sign-in.service.js';
import { signInPath } from './sign-in-pages.js';

/** Signing in through the company's identity provider: two redirects. */
@ApiExcludeController()
@Controller('signin/oidc')
export class OidcController {
  private readonly logger = new Logger('SignIn');

  constructor(
    private readonly provider: IdentityProvider,
    private readonly service: SignInService,
    private readonly pending: PendingCookie,
    private readonly config: Config,
  ) {}

  @Get()
  @ServesPage()
  @RateLimit({ name: 'sign-in', count: 20, seconds: 300 })
  async beginOidc(@Res() reply: FastifyReply, @Query() query: Record<string, unknown>): Promise<void> {
    const returnTo = ownPath(query['return_to'], this.config.baseUrl);
    await this.orTell(reply, returnTo, async () => {
      const { url, pending } = await this.provider.begin(this.configured());
      reply.header('set-cookie', this.pending.set({ ...pending, returnTo }));
      reply.header('cache-control', 'no-store').redirect(url.href, 303);
    });
  }

  @Get('callback')
  @ServesPage()
  @RateLimit({ name: 'sign-in', count: 20, seconds: 300 })
  async completeOidc(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const pending = this.pending.read(request.headers.cookie);
    await this.orTell(reply, pending?.returnTo ?? null, async () => {
      if (pending === null) throw new NotProvided('This sign-in was begun in another browser, or more than ten minutes ago. Start again.');
      const person = await this.provider.complete(this.configured(), request.url.split('?').slice(1).join('?'), pending);
      const client = { ip: request.ip, userAgent: request.headers['user-agent'], requestId: request.id };
      const cookie = await this.service.byProvider(person, this.configured(), client, request.headers.cookie);
      if (cookie === null) throw new NotProvided(`${person.email} is no member of an organization here. Ask an administrator to add you.`);
      reply.header('set-cookie', [cookie, this.pending.clear]);
      reply.header('cache-control', 'no-store').redirect(pending.returnTo ?? `${this.config.basePath}/signin`, 303);
    });
  }

  private configured(): OidcProvider {
    if (this.config.oidc === null) throw notFound('sign-in');
    return this.config.oidc;
  }

  /** A provider that is away and a person who is not let in are pages, with a way back. */
  private async orTell(reply: FastifyReply, returnTo: string | null, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ProviderAway) && !(error instanceof NotProvided)) throw error;
      const isAway = error instanceof ProviderAway;
      if (isAway) this.logger.warn(`The identity provider cannot be asked: ${error.message}`);
      if (error.cause instanceof Error) this.logger.warn(`An answer of the identity provider was refused: ${error.cause.message}`);
      const said = isAway ? 'Your company\'s sign-in does not answer at the moment. Try again, or sign in another way.' : error.message;
      const { basePath } = this.config;
      reply.header('set-cookie', this.pending.clear);
      sendPage(reply, {
        title: isAway ? 'The sign-in is away' : 'You were not let in',
        body: html`<p class="fault" role="alert">${said}</p><p><a class="button" href="${signInPath(basePath, returnTo)}">Back to the sign-in</a></p>
`,
      }, { status: isAway ? 503 : 403, basePath });
    }
  }
}
