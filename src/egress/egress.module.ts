import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { EgressAgent } from './agent.js';
import { Dialer } from './dialer.js';
import { EgressGate } from './gate.js';
import { NameRecords } from './name-records.js';
import { Names } from './names/names.js';
import { ServerRecords } from './names/server-records.js';
import { OwnServices } from './own-services.js';
import { RememberedRecords } from './remembered-records.js';

/** Maximum number of names whose DNS results are cached for incoming mail. 5,000 names fill a few megabytes. */
const REMEMBERED_NAMES_MAX = 5_000;

/** The only module that opens outgoing network connections. Every context and adapter uses it. */
@Global()
@Module({
  providers: [
    Dialer,
    EgressGate,
    OwnServices,
    {
      provide: Names,
      useFactory: (config: Config, metrics: Metrics) => watched(new Names({ servers: config.dnsServers }), metrics),
      inject: [Config, Metrics],
    },
    {
      provide: ServerRecords,
      useFactory: (config: Config) => new ServerRecords({ servers: config.dnsServers }),
      inject: [Config],
    },
    { provide: NameRecords, useExisting: ServerRecords },
    {
      provide: RememberedRecords,
      useFactory: (records: ServerRecords) =>
        new RememberedRecords(records, { entriesMax: REMEMBERED_NAMES_MAX, nowMs: () => performance.now() }),
      inject: [ServerRecords],
    },
    {
      provide: EgressAgent,
      useFactory: (gate: EgressGate, names: Names, config: Config) =>
        new EgressAgent({
          policy: () => gate.policy(),
          resolve: names.resolve,
          // Exceeds the number of concurrent attempts of a worker, so that no delivery waits for another tenant's
          // deliveries to the same host.
          maxConnectionsPerOrigin: Math.max(2048, 2 * config.deliveryConcurrency),
        }),
      inject: [EgressGate, Names, Config],
    },
  ],
  exports: [Dialer, EgressAgent, EgressGate, NameRecords, OwnServices, RememberedRecords],
})
export class EgressModule implements OnApplicationShutdown {
  constructor(
    private readonly agent: EgressAgent,
    private readonly names: Names,
    private readonly records: ServerRecords,
  ) {}

  /** Aborts all exchanges that are still in flight after the drain period of the shutdown. */
  async onApplicationShutdown(): Promise<void> {
    this.names.close();
    this.records.close();
    await this.agent.destroy();
  }
}

function watched(names: Names, metrics: Metrics): Names {
  metrics.gauge('name_lookups', 'DNS lookups of this process that are in flight or waiting.', ['state'], (gauge) => {
    for (const [state, count] of Object.entries(names.figures())) gauge.set({ state }, count);
  });
  return names;
}
