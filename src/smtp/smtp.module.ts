import { Module } from '@nestjs/common';
import { SmtpMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';

/** The SMTP edge. It passes mail to the inbox through its contract and depends on nothing else. */
@Module({ providers: [SmtpListener, SmtpMetrics] })
export class SmtpModule {}
