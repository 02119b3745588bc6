import { Module } from '@nestjs/common';
import { EmailModule } from '#modules/email/email.module.js';
import { SmtpMetrics, SubmissionMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';
import { SubmissionListener } from './submission-listener.js';
import { SubmissionLogin } from './submission-login.js';

/** The SMTP ports. Passes received mail to the inbox, and mail that clients submit to the email module. */
@Module({
  imports: [EmailModule],
  providers: [SmtpListener, SmtpMetrics, SubmissionListener, SubmissionLogin, SubmissionMetrics],
})
export class SmtpModule {}
