import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { CodeMail } from './code-mail.js';
import { Codes } from './codes.js';
import { CodesStore } from './codes.store.js';
import { IdentityProvider } from './identity-provider.js';
import { OidcController } from './oidc.controller.js';
import { OwnMail } from './own-mail.js';
import { PendingCookie } from './pending-cookie.js';
import { ProviderFetch } from './provider-fetch.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';
import { SignInAudit } from './sign-in-audit.js';

@Module({
  imports: [AuthModule, DomainsModule],
  controllers: [OidcController, SignInController],
  providers: [
    CodeMail,
    Codes,
    CodesStore,
    IdentityProvider,
    PendingCookie,
    ProviderFetch,
    SignInAudit,
    SignInService,
    OwnMail,
  ],
  exports: [OwnMail],
})
export class SignInModule {}
