import { ApiProperty } from '@nestjs/swagger';
import type { EndpointCondition } from '#modules/applications/contract.js';

/** `{app}` of a path. */
export const APPLICATION = {
  name: 'app',
  description: 'The application: its `app_` id, or your own id of it.',
  example: 'customer-42',
};

/** `{endpoint}` of a path behind an application. */
export const ENDPOINT = {
  name: 'endpoint',
  description: 'The endpoint: its `ep_` id, or your own id of it.',
  example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};

const STATES = ['closed', 'open', 'half_open'] as const;

/** The circuit breaker of an endpoint with a URL. */
export class EndpointCircuitItem {
  /** `open` holds deliveries back, `half_open` tries one, `closed` lets them through. */
  @ApiProperty({ enum: STATES, example: 'closed' })
  state: (typeof STATES)[number];

  /** When the outage began; null while closed. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  opened_at: string | null;
}

export function presentCircuit(circuit: EndpointCondition['circuit']): EndpointCircuitItem | null {
  return circuit && { state: circuit.state, opened_at: circuit.openedAt?.toISOString() ?? null };
}
