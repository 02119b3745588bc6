import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Clock, SystemClock } from './clock.js';
import { BackgroundJobs } from './concurrency/background-jobs.js';
import { BusyTurns } from './concurrency/busy-turns.js';
import { DueWorkPoller } from './concurrency/due-work-poller.js';
import { LoadMonitor } from './concurrency/load-monitor.js';
import { Config } from './config/config.js';
import { Keyring } from './crypto/keyring.js';
import { KeyringStore } from './crypto/keyring.store.js';
import { Vault } from './crypto/vault.js';
import { Cursors } from './cursors.js';
import { ClusterEpochs } from './database/cluster-epochs.js';
import { DataSourceModule } from './database/data-source.module.js';
import { Database } from './database/database.js';
import { DatabaseTime } from './database/database-time.js';
import { Notifications } from './database/notifications.js';
import { RetentionGate } from './database/retention-gate.js';
import { SeenClockStore } from './database/seen-clock.store.js';
import { Ids } from './ids.js';
import { LivenessChecks } from './observability/liveness-checks.js';
import { Metrics } from './observability/metrics.js';
import { Readiness } from './observability/readiness.js';
import { Tracing } from './observability/tracing.js';

/** The module that every other module depends on. The root module passes it the configuration and the data source. */
@Global()
@Module({})
export class KernelModule {
  static forRoot(config: Config, dataSource: DataSource, clock: SystemClock): DynamicModule {
    const provided = [
      BackgroundJobs,
      BusyTurns,
      Clock,
      ClusterEpochs,
      Config,
      Cursors,
      Database,
      DatabaseTime,
      Ids,
      Keyring,
      DueWorkPoller,
      Metrics,
      Notifications,
      Readiness,
      RetentionGate,
      LoadMonitor,
      Tracing,
      Vault,
    ];
    return {
      module: KernelModule,
      imports: [DiscoveryModule, DataSourceModule],
      providers: [
        BackgroundJobs,
        BusyTurns,
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
        DueWorkPoller,
        Metrics,
        Notifications,
        Readiness,
        RetentionGate,
        LoadMonitor,
        SeenClockStore,
        { provide: Tracing, useFactory: () => Tracing.open(config) },
        Vault,
        LivenessChecks,
      ],
      exports: provided,
    };
  }
}
