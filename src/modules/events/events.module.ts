import { Module } from '@nestjs/common';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ApplicationEventsController } from './application-events.controller.js';
import { AttemptLog } from './attempts.contract.js';
import { PagedAttemptLog } from './attempts/attempt-log.js';
import { AttemptLogStore } from './attempts/attempt-log.store.js';
import { DeadLettersStore } from './attempts/dead-letters.store.js';
import { Exchanges } from './attempts/exchanges.js';
import { Signing } from './attempts/signing.js';
import { DeadLetters } from './dead-letters.contract.js';
import { ApplicationErasures, ErasedContents, Erasures } from './erasure.contract.js';
import { ApplicationErasure } from './erasure/application-erasure.js';
import { ApplicationErasureStore } from './erasure/application-erasure.store.js';
import { Erase } from './erasure/erase.js';
import { EraseStore } from './erasure/erase.store.js';
import { AttachedContents } from './erasure/erased-contents.js';
import { EventLookup } from './event-lookup.js';
import { EventSelections } from './event-selection.contract.js';
import { ListedSelections } from './event-selection.js';
import { EventSources } from './event-sources.contract.js';
import { AttachedEventSources } from './event-sources.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { EventTools } from './events.tools.js';
import { Messages } from './messages.contract.js';
import { MessagesStore } from './messages.store.js';
import { Payloads } from './payload.js';
import { PayloadStore } from './payload.store.js';
import { ReceivedEvents } from './received.contract.js';
import { ReceivedStore } from './received.store.js';
import { Requests } from './requests.contract.js';
import { RequestsStore } from './requests.store.js';
import { SentEvents } from './sent.contract.js';
import { SentStore } from './sent.store.js';
import { SetAsideRequests } from './set-aside.contract.js';
import { SetAsideStore } from './set-aside.store.js';
import { StreamController } from './stream/stream.controller.js';
import { EventStream } from './stream/stream.js';
import { StreamStore } from './stream/stream.store.js';
import { Waiting } from './waiting.contract.js';
import { WaitingStore } from './waiting.store.js';

@Module({
  imports: [DestinationsModule, LedgerModule],
  // The order matters: the path `stream` must match before the path with an event's id.
  controllers: [StreamController, EventsController, ApplicationEventsController],
  providers: [
    ApplicationErasureStore,
    AttachedContents,
    AttemptLogStore,
    Erase,
    EraseStore,
    EventLookup,
    EventStream,
    EventsService,
    EventsStore,
    EventTools,
    Exchanges,
    Payloads,
    PayloadStore,
    Signing,
    StreamStore,
    { provide: ApplicationErasures, useClass: ApplicationErasure },
    { provide: AttemptLog, useClass: PagedAttemptLog },
    { provide: DeadLetters, useClass: DeadLettersStore },
    { provide: ErasedContents, useExisting: AttachedContents },
    { provide: Erasures, useExisting: Erase },
    { provide: EventSelections, useClass: ListedSelections },
    { provide: EventSources, useClass: AttachedEventSources },
    { provide: Messages, useClass: MessagesStore },
    { provide: ReceivedEvents, useClass: ReceivedStore },
    { provide: Requests, useClass: RequestsStore },
    { provide: SentEvents, useClass: SentStore },
    { provide: SetAsideRequests, useClass: SetAsideStore },
    { provide: Waiting, useClass: WaitingStore },
  ],
  exports: [
    ApplicationErasures,
    AttemptLog,
    DeadLetters,
    ErasedContents,
    Erasures,
    EventSelections,
    EventSources,
    Messages,
    ReceivedEvents,
    Requests,
    SentEvents,
    SetAsideRequests,
    Waiting,
  ],
})
export class EventsModule {}
