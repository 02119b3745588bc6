import { Global, Module } from '@nestjs/common';
import { AuditTrail } from '#kernel/audit.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { AuditStore } from './audit.store.js';
import { AuditMonths } from './audit-months.js';
import { OperatorAuditController } from './operator-audit.controller.js';
import { StoredAuditTrail } from './stored-audit-trail.js';

/** The audit log. Global, because the HTTP layer writes an entry for each route that changes something. */
@Global()
@Module({
  controllers: [AuditController, OperatorAuditController],
  providers: [AuditMonths, AuditService, AuditStore, { provide: AuditTrail, useClass: StoredAuditTrail }],
  exports: [AuditTrail],
})
export class AuditModule {}
