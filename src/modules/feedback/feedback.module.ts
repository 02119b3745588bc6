import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IncomingReports } from '../email/contract.js';
import { EmailModule } from '../email/email.module.js';
import { EventsModule } from '../events/events.module.js';
import { ReceivingModule } from '../receiving/receiving.module.js';
import { FeedbackMetrics } from './feedback.metrics.js';
import { ReportLoop } from './report-loop.js';
import { ReportMatching } from './report-matching.js';
import { ReportsController } from './reports.controller.js';
import { ReportsService } from './reports.service.js';
import { ReportsStore } from './reports.store.js';
import { SesContentType, SesController } from './ses.controller.js';
import { SesNotifications } from './ses-notifications.js';
import { StoredReports } from './stored-reports.js';

/** Processes reports about sent emails: mail to their return paths, and notifications from providers. */
@Module({
  imports: [AuthModule, EmailModule, EventsModule, ReceivingModule],
  controllers: [ReportsController, SesController],
  providers: [
    FeedbackMetrics,
    ReportLoop,
    ReportMatching,
    ReportsService,
    ReportsStore,
    SesContentType,
    SesNotifications,
    StoredReports,
    { provide: IncomingReports, useExisting: StoredReports },
  ],
  exports: [IncomingReports],
})
export class FeedbackModule {}
