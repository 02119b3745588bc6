import { Module } from '@nestjs/common';
import { SmtpMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';

/**
 * The edge for SMTP, as src/http is for HTTP: what comes in goes through the door of the inbox, and it knows nothing
 * else.
 */
@Module({ providers: [SmtpListener, SmtpMetrics] })
export class SmtpModule {}
