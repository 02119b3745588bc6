import { ApiProperty } from '@nestjs/swagger';
import { SIMULATED_ROLES } from '#engine/mail/simulator.js';

/** An address that plays a recipient. */
export class SimulatedAddressItem {
  /** What it plays: its mail is delivered, bounces, is complained about, is suppressed, or is put off. */
  @ApiProperty({ enum: SIMULATED_ROLES, example: 'bounced' })
  role: (typeof SIMULATED_ROLES)[number];

  /** The address; `bounced+a-label@…` plays the same. */
  @ApiProperty({ example: 'bounced@simulator.posthorn.example' })
  address: string;
}

/** The simulator of this installation. */
export class SimulatorDetail {
  /** The host of its addresses. Any of them may be `from`, without a domain of your own. */
  @ApiProperty({ example: 'simulator.posthorn.example' })
  host: string;

  /** Addresses that play a recipient. Nothing is sent to them. */
  @ApiProperty({ type: [SimulatedAddressItem] })
  addresses: SimulatedAddressItem[];

  /** Whether mail to anybody else stays inside as well: in the test environment, and with the transport `capture:`, where it reaches the aliases of this installation. */
  @ApiProperty({ example: true })
  captured: boolean;
}
