import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { AgentGate } from './agent-gate.js';
import { Authorization } from './authorization.js';
import { AuthorizeController } from './authorize.controller.js';
import { Challenge } from './challenge.js';
import { ClientDocuments } from './client-documents.js';
import { Consent } from './consent.js';
import { ConsentFormController } from './consent-form.controller.js';
import { DeviceController } from './device.controller.js';
import { DeviceGrants } from './device-grants.js';
import { GrantAudit } from './grant-audit.js';
import { GrantNotice } from './grant-notice.js';
import { McpController } from './mcp.controller.js';
import { McpServer } from './mcp-server.js';
import { OAuthController } from './oauth.controller.js';
import { OAuthClients } from './oauth-clients.js';
import { OAuthClientsStore } from './oauth-clients.store.js';
import { OAuthCodesStore } from './oauth-codes.store.js';
import { OAuthDevicesStore } from './oauth-devices.store.js';
import { OAuthMetadataController } from './oauth-metadata.controller.js';
import { OAuthSweep } from './oauth-sweep.js';
import { ToolBox } from './tool-box.js';

@Module({
  imports: [DiscoveryModule, SignInModule],
  controllers: [
    AuthorizeController,
    ConsentFormController,
    DeviceController,
    McpController,
    OAuthController,
    OAuthMetadataController,
  ],
  providers: [
    AgentGate,
    Authorization,
    Challenge,
    ClientDocuments,
    Consent,
    DeviceGrants,
    GrantAudit,
    GrantNotice,
    McpServer,
    OAuthClients,
    OAuthClientsStore,
    OAuthCodesStore,
    OAuthDevicesStore,
    OAuthSweep,
    ToolBox,
  ],
})
export class AgentsModule {}
