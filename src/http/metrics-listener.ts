import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { parseBearer } from './authentication-hook.js';
import { isToken } from './metrics.controller.js';

/** Serves `GET /metrics` on METRICS_PORT in every role, for scrapers that cannot access the API's port. */
@Injectable()
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsListener.name);
  private server: Server | null = null;

  constructor(
    private readonly metrics: Metrics,
    private readonly config: Config,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, host } = this.config;
    if (metricsPort === null) return;
    const server = createServer((request, response) => void this.serve(request, response));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(metricsPort, host, resolve));
    this.server = server;
    const { port } = server.address() as { port: number };
    this.config.alsoListensOn(port);
    this.logger.log(`Metrics on port ${port}`);
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = this.statusFor(request);
    if (status !== 200) return void response.writeHead(status, { 'content-length': 0 }).end();
    try {
      const text = await this.metrics.page();
      response.writeHead(200, { 'content-type': this.metrics.registry.contentType }).end(text);
    } catch (error) {
      this.logger.error('A scrape failed', { err: error });
      response.writeHead(500, { 'content-length': 0 }).end();
    }
  }

  private statusFor({ method, url = '', headers }: IncomingMessage): number {
    if (method !== 'GET' || url.split('?', 1)[0] !== '/metrics') return 404;
    const { metricsToken } = this.config;
    return metricsToken === null || isToken(parseBearer(headers.authorization), metricsToken) ? 200 : 401;
  }
}
