import { Body, Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { OwnOriginGuard } from '#http/pages/own-origin.guard.js';
import { RateLimit } from '#http/rate-limit.js';
import { badRequest } from '#kernel/errors.js';
import { Authorization } from './authorization.js';
import { TRIES } from './authorize.controller.js';
import { Consent } from './consent.js';

/** Receives the form of the consent page. Not part of the API. */
@ApiExcludeController()
@Controller('oauth/authorize')
export class ConsentFormController {
  constructor(
    private readonly authorization: Authorization,
    private readonly consent: Consent,
  ) {}

  @Post()
  @ServesPage()
  @TakesForm()
  @RateLimit(TRIES)
  @UseGuards(OwnOriginGuard)
  async decideOnAccess(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: object,
  ): Promise<void> {
    const form = (body ?? {}) as FormFields;
    const who = await this.consent.whoSent(request, form);
    const asked = await this.consent.asked(form, who, reply);
    if (asked === null) return;
    if (form['decision'] !== 'allow' && form['decision'] !== 'deny') throw badRequest('Choose whether to allow it.');
    const location =
      form['decision'] === 'allow'
        ? await this.authorization.approve(asked, await this.consent.givenBy(who, form, request))
        : this.authorization.refusal(asked, 'access_denied', 'The person refused.');
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(location, 302);
  }
}
