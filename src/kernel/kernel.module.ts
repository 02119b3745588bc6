import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, SystemClock } from './clock.js';
import { ClusterEpochs } from './cluster-epochs.js';
import { Config } from './config.js';
import { Cursors } from './cursors.js';
import { Database } from './database.js';
import { DatabaseTime } from './database-time.js';
import { Ids } from './ids.js';
import { Keyring } from './keyring.js';
import { KeyringStore } from './keyring.store.js';
import { Lookout } from './lookout.js';
import { Metrics } from './metrics.js';
import { Notifications } from './notifications.js';
import { Readiness } from './readiness.js';
import { RetentionGate } from './retention-gate.js';
import { RightOfWay } from './right-of-way.js';
import { SeenClockStore } from './seen-clock.store.js';
import { Tracing } from './tracing.js';
import { Vault } from './vault.js';
import { VitalSigns } from './vital-signs.js';

/** What every context stands on. The composition root brings the configuration and the connected data source. */
@Global()
@Module({})
export class KernelModule {
  static with(config: Config, dataSource: DataSource, clock: SystemClock): DynamicModule {
    const provided = [
      Clock,
      ClusterEpochs,
      Config,
      Cursors,
      Database,
      DatabaseTime,
      Ids,
      Keyring,
      Lookout,
      Metrics,
      Notifications,
      Readiness,
      RetentionGate,
      RightOfWay,
      Tracing,
      Vault,
    ];
    return {
      module: KernelModule,
      providers: [
        { provide: Config, useValue: config },
        { provide: DataSource, useValue: dataSource },
        { provide: SystemClock, useValue: clock },
        { provide: Clock, useExisting: SystemClock },
        ClusterEpochs,
        Cursors,
        Database,
        DatabaseTime,
        Ids,
        Keyring,
        KeyringStore,
        Lookout,
        Metrics,
        Notifications,
        Readiness,
        RetentionGate,
        RightOfWay,
        SeenClockStore,
        { provide: Tracing, useFactory: () => Tracing.open(config) },
        Vault,
        VitalSigns,
      ],
      exports: provided,
    };
  }
}
