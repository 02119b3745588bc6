import { Body, Controller, Get, Post, Query, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { type Html, html } from '#http/pages/html.js';
import { OwnOriginGuard } from '#http/pages/own-origin.guard.js';
import { sendPage } from '#http/pages/page.js';
import { RateLimit } from '#http/rate-limit.js';
import { Config } from '#kernel/config/config.js';
import { badRequest } from '#kernel/errors.js';
import { ForwardAddresses, type ForwardRequest } from './forward-addresses.js';

/** Rate limit per client IP address, for opening the page and submitting the form together. */
const TRIES = { name: 'forwarding', count: 100, seconds: 60 };

/**
 * Pages on which the owner of an address confirms or refuses forwarded mail. Not part of the API. Opening the page
 * changes nothing, because mail scanners open every link.
 */
@ApiExcludeController()
@Controller('forwarding')
export class ForwardPagesController {
  constructor(
    private readonly addresses: ForwardAddresses,
    private readonly config: Config,
  ) {}

  @Get()
  @ServesPage()
  @RateLimit(TRIES)
  async askToForward(@Query() query: Record<string, unknown>, @Res() reply: FastifyReply): Promise<void> {
    const token = textOf(query['token']);
    this.show(reply, await this.addresses.find(token), token);
  }

  @Post()
  @ServesPage()
  @TakesForm()
  @RateLimit(TRIES)
  @UseGuards(OwnOriginGuard)
  async decideOnForwarding(@Body() body: object, @Res() reply: FastifyReply): Promise<void> {
    const { token, decision } = (body ?? {}) as FormFields;
    if (decision !== 'confirm' && decision !== 'refuse') throw badRequest('Choose whether to confirm.');
    await this.addresses.decide(textOf(token), decision === 'confirm' ? 'confirmed' : 'refused');
    this.show(reply, await this.addresses.find(textOf(token)), textOf(token));
  }

  private show(reply: FastifyReply, request: ForwardRequest, token: string): void {
    const { basePath } = this.config;
    sendPage(reply, { title: 'Forwarded mail', body: bodyOf(request, `${basePath}/forwarding`, token) }, { basePath });
  }
}

/** Returns a query parameter or form field, or '' if it is missing or repeated. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function bodyOf({ address, organization, state }: ForwardRequest, action: string, token: string): Html {
  const button = (decision: string, label: string): Html =>
    html`<button type="submit" name="decision" value="${decision}">${label}</button>`;
  const form = (buttons: readonly Html[]): Html =>
    html`<form method="post" action="${action}"><input type="hidden" name="token" value="${token}">${buttons}</form>`;
  const who = html`<b>${organization}</b>`;
  const to = html`<b>${address}</b>`;
  if (state === 'refused') return html`<p>Mail of ${who} is not forwarded to ${to}. You refused it.</p>`;
  if (state === 'confirmed')
    return html`<p>Mail of ${who} is forwarded to ${to}, as you confirmed.</p>
${form([button('refuse', 'End the forwarding')])}`;
  return html`<p>The organization ${who} wants to forward mail that it receives to ${to}.</p>
${form([button('confirm', 'Confirm'), button('refuse', 'Refuse')])}`;
}
