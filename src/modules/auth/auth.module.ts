import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Authenticator, SessionAuthenticator } from '#kernel/authenticator.js';
import { Environments } from './environments/environments.js';
import { Retention } from './environments/retention.js';
import { AttachedRetrySchedules } from './environments/retry-schedules.js';
import { SigningSecretsService } from './environments/signing-secrets.service.js';
import { AttachedSystemDestinations } from './environments/system-destinations.js';
import { Tenants } from './environments/tenants.js';
import { GrantedKeys } from './keys/granted-keys.js';
import { GrantersStore } from './keys/granters.store.js';
import { KeyAuthenticator } from './keys/key-authenticator.js';
import { KeyIssuer } from './keys/key-issuer.js';
import { KeyLifecycle } from './keys/key-lifecycle.js';
import { KeyUsage } from './keys/key-usage.js';
import { KeysController } from './keys/keys.controller.js';
import { KeysService } from './keys/keys.service.js';
import { KeysStore } from './keys/keys.store.js';
import { MembersController } from './members/members.controller.js';
import { MembersService } from './members/members.service.js';
import { MembersStore } from './members/members.store.js';
import { FirstStart } from './organizations/first-start.js';
import { OrganizationErasure } from './organizations/organization-erasure.js';
import { OrganizationFounder } from './organizations/organization-founder.js';
import { OrgsController } from './organizations/organizations.controller.js';
import { OrgsService } from './organizations/organizations.service.js';
import { OrgsStore } from './organizations/organizations.store.js';
import { OrgController } from './organizations/own-organization.controller.js';
import { OrganizationService } from './organizations/own-organization.service.js';
import { OrganizationsStore } from './organizations/own-organization.store.js';
import { OwnSessionController } from './sessions/own-session.controller.js';
import { OwnSession } from './sessions/own-session.js';
import { SessionCallers } from './sessions/session-callers.js';
import { SessionSweep } from './sessions/session-sweep.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { Sessions } from './sessions/sessions.js';
import { SessionsService } from './sessions/sessions.service.js';
import { SessionsStore } from './sessions/sessions.store.js';
import { SignIn } from './sessions/sign-in.js';

/** Organizations, their environments and API keys. Global, because the HTTP layer needs the authenticator. */
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
    Environments,
    GrantedKeys,
    FirstStart,
    Retention,
    Sessions,
    { provide: SessionAuthenticator, useClass: SessionCallers },
    Tenants,
  ],
  exports: [
    Authenticator,
    Environments,
    FirstStart,
    GrantedKeys,
    MembersService,
    Retention,
    AttachedRetrySchedules,
    SessionAuthenticator,
    Sessions,
    AttachedSystemDestinations,
    Tenants,
  ],
})
export class AuthModule {}
