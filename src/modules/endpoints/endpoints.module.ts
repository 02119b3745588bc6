import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { Answering } from '#modules/receiving/answering.js';
import { Certificates } from '#modules/receiving/certificates.js';
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
import { HandshakeSecrets } from './sealed-configurations.js';
import { IngestDomainsController } from './ingest-domains.controller.js';
import { IngestDomains } from './ingest-domains.js';
import { Ingest, IngestEdge } from '#modules/receiving/ingest.js';
import { IngestMetrics } from '#modules/receiving/ingest.metrics.js';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { LiveEndpointsStore } from './configurations.store.js';
import { OutsideChecks } from './outside-checks.js';
import { Pipeline, PipelineSteps } from '#modules/receiving/pipeline.js';
import { RawRequests } from '#modules/receiving/raw-requests.js';
import { RequestsController } from '#modules/receiving/requests.controller.js';
import { ResponseProxy } from '#modules/receiving/response-proxy.js';
import { RoutesController } from './routes.controller.js';
import { Routing } from '#modules/receiving/routing.js';
import { TestSample } from '#modules/receiving/sample-events.js';
import { TransformUrls } from '#modules/receiving/url-transforms.js';
import { Transformer } from '#modules/receiving/transformer.js';
import { VerificationWatch } from '#modules/receiving/verification-watch.js';

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
