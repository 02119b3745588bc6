import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredCoding } from '#http/content-coding.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { Config } from '#kernel/config/config.js';
import { noSuch } from '#kernel/errors.js';
import { ConsoleFiles } from './console-files.js';
import { isTrustworthy, originFor, policyOf } from './page-place.js';

const PREFIX = '/console';

/** Headers of every response below the console's path. */
const PROTECTION = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};
/** Browsers apply this header only to https and localhost. For other origins, they log a warning. */
const OPENER = { 'cross-origin-opener-policy': 'same-origin' };

/**
 * Serves the console: its files and one page below a common path. The routes are not part of the API. They are excluded
 * from quotas, because one page needs a dozen requests and users without a key may share an IP address.
 */
@Injectable()
export class ConsolePages implements OnModuleInit {
  private readonly logger = new Logger('Console');

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (!this.config.isApi || !this.config.hasConsole) return;
    const files = ConsoleFiles.find();
    if (files === null)
      return this.logger.warn('The console was not built, so /console is not available. `npm run build` builds it.');
    this.serve(this.adapterHost.httpAdapter.getInstance<FastifyInstance>(), files);
  }

  serve(fastify: FastifyInstance, files: ConsoleFiles): void {
    const config = { access: 'public', uncounted: true } as const;
    const page = (request: FastifyRequest, reply: FastifyReply): void => this.showPage(files, request, reply);
    fastify.get(PREFIX, { config }, page);
    fastify.get(`${PREFIX}/*`, { config }, page);
    fastify.get(`${PREFIX}/assets/*`, { config }, (request, reply) => this.sendAsset(files, request, reply));
  }

  private async sendAsset(files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const file = files.asset((request.params as { '*': string })['*']);
    if (file === null) return this.refuse(request, reply);
    const coding = preferredCoding(request.headers['accept-encoding'], [...file.packed.keys()]);
    if (coding !== null) reply.header('content-encoding', coding);
    return reply
      .headers({
        ...PROTECTION,
        'content-type': file.contentType,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
      })
      .send(coding === null ? file.bytes : file.packed.get(coding));
  }

  private showPage(files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): void {
    const origin = originFor(request, this.config);
    if (origin === null) return void this.refuse(request, reply);
    if (typeof origin === 'object')
      return void reply.headers({ ...PROTECTION, 'cache-control': 'no-store' }).redirect(origin.elsewhere, 302);
    const base = `${this.config.basePath}${PREFIX}/`;
    const { bytes, etag } = files.page(base, screenOf(request));
    reply.headers({
      ...PROTECTION,
      ...(isTrustworthy(origin) && OPENER),
      'cache-control': 'no-cache',
      etag,
      'content-security-policy': policyOf(`${origin}${base}assets/`),
    });
    if (request.headers['if-none-match'] === etag) return void reply.code(304).send();
    reply.header('content-type', 'text/html; charset=utf-8').send(bytes);
  }

  private async refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await this.filter.answer(noSuch('path'), request, reply);
    return reply;
  }
}

/**
 * Returns the path segment that names the screen, for example `event-types`. Returns an empty string for the page of a
 * single item, for which no files are preloaded.
 */
function screenOf({ params }: FastifyRequest): string {
  const [, screen = '', more] = ((params as { '*'?: string })['*'] ?? '').split('/');
  return more === undefined ? screen : '';
}
