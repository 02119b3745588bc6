import { Module } from '@nestjs/common';
import { SmtpMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';

/** The SMTP listener. It passes mail to the inbox through the inbox's contract and depends on no other module. */
@Module({ providers: [SmtpListener, SmtpMetrics] })
export class SmtpModule {}
