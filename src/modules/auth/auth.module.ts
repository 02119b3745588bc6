import { Global, Module } from '@nestjs/common';
import { Environments, FirstStart } from '#modules/auth/contract.js';
import { Authenticator } from '#kernel/authenticator.js';
import { CachedEnvironments } from './cached-environments.js';
import { LockedFirstStart } from './first-start.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyIssuer } from './key-issuer.js';
import { KeyLifecycle } from './key-lifecycle.js';
import { KeyUsage } from './key-usage.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { KeysStore } from './keys.store.js';
import { OrgController } from './org.controller.js';
import { OrganizationFounder } from './organization-founder.js';
import { OrganizationService } from './organization.service.js';
import { OrganizationsStore } from './organizations.store.js';

/** Who is calling, and for whom: organizations, their environments and API keys. Global, because the edge asks for the authenticator. */
@Global()
@Module({
  controllers: [KeysController, OrgController],
  providers: [
    KeysStore,
    KeysService,
    KeyIssuer,
    KeyLifecycle,
    KeyUsage,
    OrganizationsStore,
    OrganizationService,
    OrganizationFounder,
    { provide: Authenticator, useClass: KeyAuthenticator },
    { provide: Environments, useClass: CachedEnvironments },
    { provide: FirstStart, useClass: LockedFirstStart },
  ],
  exports: [Authenticator, Environments, FirstStart],
})
export class AuthModule {}
