import { Body, Controller, Get, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { OwnOriginGuard } from '#http/pages/own-origin.guard.js';
import { RateLimit } from '#http/rate-limit.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import { grants, SCOPES } from '#kernel/tenant.js';
import { Consent } from './consent.js';
import { deviceCodePage, deviceConsentPage, devicePage } from './consent-pages.js';
import { DeviceGrants } from './device-grants.js';

/**
 * Limit of attempts to enter a user code, per client IP address. The code form and the decision form share the limit.
 */
const GUESSES = { name: 'device', count: 5, seconds: 60 };

/**
 * Pages on which a user enters the code that a program shows, and approves or denies access (RFC 8628, section 3.3).
 * Not part of the API.
 */
@ApiExcludeController()
@Controller('oauth/device')
export class DeviceController {
  constructor(
    private readonly devices: DeviceGrants,
    private readonly consent: Consent,
  ) {}

  @Get()
  @ServesPage()
  async showDevicePage(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query() query: Record<string, unknown>,
  ): Promise<void> {
    const who = await this.consent.whoOrSignIn(request, reply);
    if (who === null) return;
    const { user_code: userCode } = query;
    const typed = typeof userCode === 'string' && /^[A-Za-z-]{1,20}$/.test(userCode) ? userCode.toUpperCase() : '';
    this.consent.show(reply, deviceCodePage(who, this.consent.basePath, typed, null));
  }

  @Post('code')
  @ServesPage()
  @TakesForm()
  @RateLimit(GUESSES)
  @UseGuards(OwnOriginGuard)
  async lookAtDevice(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Body() body: object): Promise<void> {
    const form = (body ?? {}) as FormFields;
    const who = await this.consent.whoSent(request, form);
    const userCode = (form['user_code'] ?? '').trim().toUpperCase().slice(0, 20);
    const device = await this.devices.waiting(userCode);
    if (device !== null)
      return this.consent.show(reply, deviceConsentPage(device, userCode, who, this.consent.basePath));
    this.consent.show(
      reply,
      deviceCodePage(
        who,
        this.consent.basePath,
        '',
        'No program is waiting for this code. A code is valid for ten minutes: check whether the program shows a new one.',
      ),
      { status: 400 },
    );
  }

  @Post('decision')
  @ServesPage()
  @TakesForm()
  @RateLimit(GUESSES)
  @UseGuards(OwnOriginGuard)
  async decideOnDevice(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: object,
  ): Promise<void> {
    const form = (body ?? {}) as FormFields;
    const who = await this.consent.whoSent(request, form);
    const { decision, user_code: userCode = '' } = form;
    if (decision === 'deny') {
      await this.devices.deny(userCode);
      return this.consent.show(reply, devicePage(false));
    }
    if (decision !== 'allow') throw badRequest('Choose whether to allow it.');
    const scope = SCOPES.find((one) => one === form['scope']);
    if (scope === undefined) throw badRequest('Choose what the program may do.');
    if (!grants(who.role, scope))
      throw new ApiError('insufficient_scope', `You have the role ${who.role} yourself: you cannot allow more.`);
    const isApproved = await this.devices.approve(userCode, {
      ...(await this.consent.givenBy(who, form, request)),
      scope,
    });
    if (!isApproved) throw badRequest('The program is no longer waiting. Start it again.');
    this.consent.show(reply, devicePage(true));
  }
}
