import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { CanBeNull, IsDateTime } from '#http/validation.js';
import type { EndpointCondition } from '#modules/applications/contract.js';

/** OpenAPI parameter for `{app}` in a path. */
export const APPLICATION = {
  name: 'app',
  description: 'The application: its `app_` id or your own uid.',
  example: 'customer-42',
};

/** OpenAPI parameter for `{endpoint}` in a path below an application. */
export const ENDPOINT = {
  name: 'endpoint',
  description: 'The endpoint: its `ep_` id or your own uid.',
  example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};

const STATES = ['closed', 'open', 'half_open'] as const;

/** Circuit breaker of an endpoint with a URL. */
export class EndpointCircuitItem {
  /**
   * State of the circuit. `open` holds deliveries back, `half_open` sends one as a probe, and `closed` sends all
   * deliveries.
   */
  @ApiProperty({ example: 'closed' })
  @IsIn(STATES)
  state: (typeof STATES)[number];

  /** Time at which the outage began; `null` while the circuit is closed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  opened_at: string | null;
}

export function presentCircuit(circuit: EndpointCondition['circuit']): EndpointCircuitItem | null {
  return circuit && { state: circuit.state, opened_at: circuit.openedAt?.toISOString() ?? null };
}
