import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { type Page, sendPage } from '#http/pages/page.js';
import { RateLimit } from '#http/rate-limit.js';
import { Config } from '#kernel/config/config.js';
import { badRequest } from '#kernel/errors.js';
import { type UnsubscribeLink, UnsubscribeLinks } from './unsubscribe-links.js';
import { languageOf, type PageStep, unknownLinkPage, unsubscribePage } from './unsubscribe-pages.js';
import { Unsubscriptions } from './unsubscriptions.js';

/**
 * Rate limit per client network. It is high, because mailbox providers send the one-click requests of all their users
 * from few networks.
 */
const REQUESTS = { name: 'unsubscribe', count: 6_000, seconds: 60 };
const HEADERS = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' };

/**
 * Serves the unsubscribe links in emails: the page for readers, and one-click requests from mail programs (RFC 8058).
 * Not part of the API. The token is the only credential. No cookies are read, so CSRF is not possible.
 */
@ApiExcludeController()
@Controller('u')
export class UnsubscribeController {
  constructor(
    private readonly links: UnsubscribeLinks,
    private readonly unsubscriptions: Unsubscriptions,
    private readonly config: Config,
  ) {}

  /** Shows the unsubscribe page. Does not unsubscribe yet, because mail filters open the links in emails. */
  @Get(':slug/:token')
  @ServesPage()
  @RateLimit(REQUESTS)
  async showUnsubscribe(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('token') token: string,
  ): Promise<void> {
    await this.show(request, reply, this.links.read(token), 'asks');
  }

  /** Executes a one-click request, or the choice that the page's form submits. */
  @Post(':slug/:token')
  @ServesPage()
  @HttpCode(200)
  @TakesForm({ multipart: true })
  @RateLimit(REQUESTS)
  async chooseSubscription(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('token') token: string,
    @Body() body: object,
  ): Promise<void> {
    const link = this.links.read(token);
    const step = stepOf((body ?? {}) as FormFields);
    if (link !== null && step === 'unsubscribed') await this.unsubscriptions.unsubscribe(link);
    if (link !== null && step === 'resubscribed') await this.unsubscriptions.resubscribe(link);
    await this.show(request, reply, link, step);
  }

  private async show(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    link: UnsubscribeLink | null,
    step: PageStep,
  ): Promise<void> {
    const language = languageOf(headers['accept-language']);
    const page: Page =
      link === null
        ? unknownLinkPage(language)
        : unsubscribePage(link, await this.unsubscriptions.stateOf(link), step, language);
    const status = link === null ? 404 : 200;
    sendPage(reply, page, { status, basePath: this.config.basePath, headers: { ...HEADERS, vary: 'accept-language' } });
  }
}

/** Returns the step that a submitted form requests. Throws 400 if it requests none. */
function stepOf(form: FormFields): PageStep {
  if (form['List-Unsubscribe'] === 'One-Click' || form['action'] === 'unsubscribe') return 'unsubscribed';
  if (form['action'] === 'resubscribe') return 'resubscribed';
  throw badRequest('Send the form field List-Unsubscribe with the value One-Click (RFC 8058).');
}
