import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { Config } from '#kernel/config/config.js';
import { noSuch } from '#kernel/errors.js';
import { PortalFrames } from '#modules/portal/contract.js';
import { ConsoleFiles } from './console-files.js';
import { originFor, policyOf } from './page-place.js';

const PREFIX = '/portal';
const EMBED = 'embed.js';

/**
 * Serves the customer portal's page, with the console's assets. The page is the same for every session, because the
 * token after `#` selects the application. Only the origins that may frame the page differ.
 */
@Injectable()
export class PortalPages implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
    private readonly frames: PortalFrames,
  ) {}

  onModuleInit(): void {
    if (!this.config.isApi || !this.config.hasConsole) return;
    const files = ConsoleFiles.find();
    if (files !== null) this.serve(this.adapterHost.httpAdapter.getInstance<FastifyInstance>(), files);
  }

  /**
   * Registers the routes. Requests for the page count toward the rate limit, because the page queries the database. The
   * embed script is exempt.
   */
  serve(fastify: FastifyInstance, files: ConsoleFiles): void {
    fastify.get(`${PREFIX}/${EMBED}`, { config: { access: 'public', uncounted: true } }, (request, reply) =>
      this.sendScript(files, request, reply),
    );
    fastify.get(`${PREFIX}/:session`, { config: { access: 'public' } }, (request, reply) =>
      this.showPage(files, request, reply),
    );
  }

  /** Sends the portal page of a session. For an unknown session id, the page is the same but no origin may frame it. */
  private async showPage(files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const origin = originFor(request, this.config);
    if (origin === null) return this.refuse(request, reply);
    // The session's token is in the URL fragment (after `#`), which browsers keep across a redirect.
    if (typeof origin === 'object')
      return reply
        .headers({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
        .redirect(origin.elsewhere, 302);
    const base = `${this.config.basePath}/console/`;
    const origins = await this.frames.originsOf((request.params as { session: string }).session);
    const bytes = files.portalPage(base, origins);
    if (bytes === null) return this.refuse(request, reply);
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': policyOf(`${origin}${base}assets/`, origins),
      })
      .send(bytes);
  }

  /** Serves the script to pages of any origin, which load it as a module. */
  private async sendScript(files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const script = files.embedScript();
    if (script === null) return this.refuse(request, reply);
    return reply
      .headers({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      })
      .send(script);
  }

  private async refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await this.filter.answer(noSuch('path'), request, reply);
    return reply;
  }
}
