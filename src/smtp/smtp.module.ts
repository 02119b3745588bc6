import { Module } from '@nestjs/common';
import { SmtpListener } from './smtp-listener.js';
import { SmtpMetrics } from './smtp.metrics.js';

/** The edge for SMTP, as src/http is for HTTP: what comes in goes through the door of the inbox, and it knows nothing else. */
@Module({ providers: [SmtpListener, SmtpMetrics] })
export class SmtpModule {}
