import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { AcceptReceived } from './accepting.js';
import { Answering } from './answering.js';
import { Certificates } from './certificates.js';
import { RequestDeduplication } from './deduplication.js';
import { EndpointWatch } from './endpoint-watch.js';
import { Ingest } from './ingest.js';
import { IngestMetrics } from './ingest.metrics.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline } from './pipeline.js';
import { RawRequests } from './raw-requests.js';
import { Reception } from './reception.js';
import { RequestBodies } from './request-bodies.js';
import { RequestsController } from './requests.controller.js';
import { RequestTools } from './requests.tools.js';
import { ResponseProxy } from './response-proxy.js';
import { Routing } from './routing.js';
import { SampleEvents } from './sample-events.js';
import { Transformer } from './transformer.js';
import { Trial } from './trial.js';
import { TrialsController } from './trials.controller.js';
import { UrlTransforms } from './url-transforms.js';
import { Verifying } from './verifying.js';

@Module({
  imports: [AuthModule, DestinationsModule, EndpointsModule, EventsModule, LedgerModule, SecretsModule],
  controllers: [RequestsController, TrialsController],
  providers: [
    AcceptReceived,
    Answering,
    Certificates,
    EndpointWatch,
    Ingest,
    IngestMetrics,
    LiveEndpoints,
    Pipeline,
    RawRequests,
    Reception,
    RequestBodies,
    RequestDeduplication,
    RequestTools,
    ResponseProxy,
    Routing,
    SampleEvents,
    Transformer,
    Trial,
    UrlTransforms,
    Verifying,
  ],
  exports: [LiveEndpoints, Certificates, RawRequests],
})
export class ReceivingModule {}
