import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { Answering } from './answering.js';
import { Certificates } from './certificates.js';
import { CodeSecrets } from './code-secrets.js';
import { Endpoints } from './contract.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointRecords } from './endpoint-records.js';
import { EndpointRegistration } from './endpoint-registration.js';
import { EndpointRoutes } from './endpoint-routes.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { EndpointVault } from './endpoint-vault.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { EndpointsStore } from './endpoints.store.js';
import { HandshakeSecrets } from './handshake-secrets.js';
import { IngestDomainsController } from './ingest-domains.controller.js';
import { IngestDomains } from './ingest-domains.js';
import { Ingest, IngestEdge } from './ingest.js';
import { IngestMetrics } from './ingest.metrics.js';
import { LiveEndpoints } from './live-endpoints.js';
import { LiveEndpointsStore } from './live-endpoints.store.js';
import { OutsideChecks } from './outside-checks.js';
import { Pipeline, PipelineSteps } from './pipeline.js';
import { RawRequests } from './raw-requests.js';
import { RequestsController } from './requests.controller.js';
import { ResponseProxy } from './response-proxy.js';
import { RoutesController } from './routes.controller.js';
import { Routing } from './routing.js';
import { TestSample } from './test-sample.js';
import { TransformUrls } from './transform-urls.js';
import { Transformer } from './transformer.js';
import { VerificationWatch } from './verification-watch.js';

/** URLs that providers send to: how they are set up, and what happens to what comes in. */
@Module({
  imports: [AuthModule, DestinationsModule, EventsModule, SecretsModule],
  controllers: [EndpointsController, IngestDomainsController, RequestsController, RoutesController],
  providers: [
    Answering,
    Certificates,
    CodeSecrets,
    EndpointChanges,
    EndpointRecords,
    EndpointRegistration,
    EndpointRoutes,
    EndpointSecrets,
    EndpointVault,
    EndpointsService,
    EndpointsStore,
    HandshakeSecrets,
    Ingest,
    IngestDomains,
    IngestEdge,
    IngestMetrics,
    LiveEndpoints,
    LiveEndpointsStore,
    OutsideChecks,
    Pipeline,
    PipelineSteps,
    RawRequests,
    ResponseProxy,
    Routing,
    TestSample,
    Transformer,
    TransformUrls,
    VerificationWatch,
    { provide: Endpoints, useExisting: LiveEndpoints },
  ],
  exports: [Endpoints],
})
export class EndpointsModule {}
