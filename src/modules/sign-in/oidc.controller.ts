import { Body, Controller, Get, Logger, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { html } from '#http/pages/html.js';
import { OwnOriginGuard } from '#http/pages/own-origin.guard.js';
import { sendPage } from '#http/pages/page.js';
import { ownPath } from '#http/pages/return-to.js';
import { RateLimit } from '#http/rate-limit.js';
import { Config } from '#kernel/config/config.js';
import type { OidcProvider } from '#kernel/config/oidc-provider.js';
import { noSuch } from '#kernel/errors.js';
import { IdentityProvider, NotProvided } from './identity-provider.js';
import { PendingCookie, type VouchedInBrowser } from './pending-cookie.js';
import { ProviderAway } from './provider-fetch.js';
import { type ProviderOutcome, SignInService } from './sign-in.service.js';
import type { SignInClient } from './sign-in-audit.js';
import { organizationPage, signInPath } from './sign-in-pages.js';

const OUTDATED = 'This sign-in was started in another browser, or more than ten minutes ago. Start again.';

/**
 * Sign-in through the organization's identity provider. Consists of two redirects, and a page on which members of
 * several organizations choose one.
 */
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
    await this.runOrShowFailure(reply, returnTo, async () => {
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
    await this.runOrShowFailure(reply, pending?.returnTo ?? null, async () => {
      if (pending === null || !('state' in pending)) throw new NotProvided(OUTDATED);
      const person = await this.provider.complete(
        this.configured(),
        request.url.split('?').slice(1).join('?'),
        pending,
      );
      const outcome = await this.service.byProvider(
        person,
        this.configured(),
        clientOf(request),
        request.headers.cookie,
      );
      this.go(reply, outcome, { vouchedEmail: person.email, returnTo: pending.returnTo });
    });
  }

  @Post('organization')
  @ServesPage()
  @TakesForm()
  @RateLimit({ name: 'sign-in', count: 20, seconds: 300 })
  @UseGuards(OwnOriginGuard)
  async chooseOrganization(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() form: object,
  ): Promise<void> {
    const pending = this.pending.read(request.headers.cookie);
    await this.runOrShowFailure(reply, pending?.returnTo ?? null, async () => {
      if (pending === null || !('vouchedEmail' in pending)) throw new NotProvided(OUTDATED);
      const { member = null } = (form ?? {}) as FormFields;
      const vouched = { email: pending.vouchedEmail, memberId: member };
      this.go(
        reply,
        await this.service.byVouchedAddress(vouched, this.configured(), clientOf(request), request.headers.cookie),
        pending,
      );
    });
  }

  /**
   * Redirects the browser after the sign-in, or returns the page for choosing an organization. Only this browser can
   * make the choice.
   */
  private go(reply: FastifyReply, outcome: ProviderOutcome, vouched: VouchedInBrowser): void {
    const { basePath } = this.config;
    if (outcome.kind === 'refused')
      throw new NotProvided(
        `${vouched.vouchedEmail} is not a member of any organization that uses this sign-in. Ask an administrator to add you.`,
      );
    if (outcome.kind === 'several') {
      reply.header('set-cookie', this.pending.set(vouched));
      return sendPage(
        reply,
        organizationPage({ basePath, returnTo: null }, '/signin/oidc/organization', {}, outcome.memberships),
        { basePath },
      );
    }
    reply.header('set-cookie', [outcome.cookie, this.pending.clear]);
    reply.header('cache-control', 'no-store').redirect(vouched.returnTo ?? `${basePath}/signin`, 303);
  }

  private configured(): OidcProvider {
    if (this.config.oidc === null) throw noSuch('sign-in');
    return this.config.oidc;
  }

  /**
   * Runs `work`. If the provider is unavailable or rejects the sign-in, returns a page with a link to the sign-in page.
   */
  private async runOrShowFailure(
    reply: FastifyReply,
    returnTo: string | null,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ProviderAway) && !(error instanceof NotProvided)) throw error;
      const isAway = error instanceof ProviderAway;
      if (isAway) this.logger.warn(`The identity provider is not reachable: ${error.message}`);
      if (error.cause !== undefined)
        this.logger.warn(`A response of the identity provider was rejected: ${firstCause(error)}`);
      const said = isAway
        ? "Your company's sign-in does not answer. Try again, or sign in another way."
        : error.message;
      const { basePath } = this.config;
      reply.header('set-cookie', this.pending.clear);
      sendPage(
        reply,
        {
          title: isAway ? 'Sign-in unavailable' : 'Sign-in refused',
          body: html`<p class="fault" role="alert">${said}</p><p><a class="button" href="${signInPath(basePath, returnTo)}">Back to the sign-in</a></p>
`,
        },
        { status: isAway ? 503 : 403, basePath },
      );
    }
  }
}

/** Returns the innermost error's message. The OpenID Connect client wraps the original error in another error. */
function firstCause(error: Error): string {
  return error.cause instanceof Error ? firstCause(error.cause) : error.message;
}

function clientOf({ ip, headers, id }: FastifyRequest): SignInClient {
  return { ip, userAgent: headers['user-agent'], requestId: id };
}
