import type { FleetKind } from './fleet.js';

/** The rounds of CI, by test file. Each round names its fault kinds. `+` joins kinds that are injected at once. */
export const CI_ROUNDS = {
  processes: { fleet: 'postgres', rounds: ['kill-api', 'rolling', 'pause-worker', 'pause-api + kill-worker'] },
  outside: {
    fleet: 'postgres',
    rounds: ['receiver-hang + receiver-trickle + receiver-flap + receiver-reset', 'names-silent'],
  },
  storage: {
    fleet: 'postgres',
    rounds: ['postgres-kill', 'postgres-terminate', 'postgres-cut', 'postgres-slow', 'postgres-restart + kill-api'],
  },
  clocks: { fleet: 'postgres', rounds: ['clock+2h', 'clock-2h', 'clock+40d', 'clock-40d'] },
  redis: { fleet: 'redis', rounds: ['redis-kill', 'redis-cut', 'redis-flush + kill-worker'] },
  disk: { fleet: 'small disk', rounds: ['postgres-full'] },
  failover: { fleet: 'standby', rounds: ['postgres-failover'] },
  mail: { fleet: 'mail', rounds: ['kill-worker', 'postgres-cut', 'postgres-kill + pause-worker', 'clock+2h'] },
  embedded: { fleet: 'embedded', rounds: ['kill-worker', 'postgres-terminate', 'clock-40d'] },
} as const satisfies Record<string, { fleet: FleetKind; rounds: readonly string[] }>;
