import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Authenticator, SessionAuthenticator } from '#kernel/authenticator.js';
import { Environments, FirstStart, Retention, RetrySchedules, SystemDestinations } from '#modules/auth/contract.js';
import { GrantedKeys } from '#modules/auth/granted-keys.contract.js';
import { Memberships } from '#modules/auth/members.contract.js';
import { Sessions } from '#modules/auth/sessions.contract.js';
import { CachedEnvironments } from './cached-environments.js';
import { CachedSessions } from './cached-sessions.js';
import { EnvironmentRetention } from './environment-retention.js';
import { LockedFirstStart } from './first-start.js';
import { GrantersStore } from './granters.store.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyIssuer } from './key-issuer.js';
import { KeyLifecycle } from './key-lifecycle.js';
import { KeyUsage } from './key-usage.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { KeysStore } from './keys.store.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { MembersStore } from './members.store.js';
import { OrgController } from './org.controller.js';
import { OrganizationService } from './organization.service.js';
import { OrganizationErasure } from './organization-erasure.js';
import { OrganizationFounder } from './organization-founder.js';
import { OrganizationsStore } from './organizations.store.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';
import { OrgsStore } from './orgs.store.js';
import { OwnSessionController } from './own-session.controller.js';
import { OwnSession } from './own-session.js';
import { AttachedRetrySchedules } from './retry-schedules.js';
import { SessionCallers } from './session-callers.js';
import { SessionSweep } from './session-sweep.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';
import { SessionsStore } from './sessions.store.js';
import { SignIn } from './sign-in.js';
import { SigningSecretsService } from './signing-secrets.service.js';
import { StoredGrantedKeys } from './stored-granted-keys.js';
import { AttachedSystemDestinations } from './system-destinations.js';

/** Who is calling, and for whom: organizations, their environments and API keys. Global, because the edge asks for the authenticator. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [
    KeysController,
    MembersController,
    OrgController,
    OrgsController,
    OwnSessionController,
    SessionsController,
  ],
  providers: [
    AttachedRetrySchedules,
    AttachedSystemDestinations,
    KeysStore,
    KeysService,
    KeyIssuer,
    KeyLifecycle,
    KeyUsage,
    OrganizationsStore,
    OrganizationService,
    OrganizationErasure,
    OrganizationFounder,
    OrgsService,
    OrgsStore,
    SigningSecretsService,
    GrantersStore,
    KeyAuthenticator,
    MembersService,
    MembersStore,
    OwnSession,
    SessionSweep,
    SessionsService,
    SessionsStore,
    { provide: Authenticator, useClass: SignIn },
    { provide: Environments, useClass: CachedEnvironments },
    { provide: GrantedKeys, useClass: StoredGrantedKeys },
    { provide: FirstStart, useClass: LockedFirstStart },
    { provide: Memberships, useExisting: MembersService },
    { provide: Retention, useClass: EnvironmentRetention },
    { provide: RetrySchedules, useExisting: AttachedRetrySchedules },
    { provide: Sessions, useClass: CachedSessions },
    { provide: SessionAuthenticator, useClass: SessionCallers },
    { provide: SystemDestinations, useExisting: AttachedSystemDestinations },
  ],
  exports: [
    Authenticator,
    Environments,
    FirstStart,
    GrantedKeys,
    Memberships,
    Retention,
    RetrySchedules,
    SessionAuthenticator,
    Sessions,
    SystemDestinations,
  ],
})
export class AuthModule {}
