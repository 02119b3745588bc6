import { Global, Module } from '@nestjs/common';
import { PortalAuthenticator } from '#kernel/authenticator.js';
import { ApplicationsModule } from '../applications/applications.module.js';
import { PortalFrames } from './contract.js';
import { OwnPortalController } from './own-portal.controller.js';
import { PortalLinksController } from './portal-links.controller.js';
import { PortalLinks } from './portal-links.js';
import { CachedPortalFrames, PortalSessions } from './portal-sessions.js';
import { PortalSessionsStore } from './portal-sessions.store.js';
import { PortalSweep } from './portal-sweep.js';

/** Global module, because the HTTP layer uses its authenticator. */
@Global()
@Module({
  imports: [ApplicationsModule],
  controllers: [PortalLinksController, OwnPortalController],
  providers: [
    PortalLinks,
    PortalSessions,
    PortalSessionsStore,
    PortalSweep,
    { provide: PortalAuthenticator, useExisting: PortalSessions },
    { provide: PortalFrames, useClass: CachedPortalFrames },
  ],
  exports: [PortalAuthenticator, PortalFrames],
})
export class PortalModule {}
