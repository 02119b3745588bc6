import { ApiProperty } from '@nestjs/swagger';
import { SIMULATED_ROLES } from '#engine/mail/simulator.js';

/** An address that simulates a recipient. */
export class SimulatedAddressItem {
  /**
   * The simulated behavior: mail to the address is delivered, bounces, draws a complaint, is suppressed, or is
   * deferred.
   */
  @ApiProperty({ enum: SIMULATED_ROLES, example: 'bounced' })
  role: (typeof SIMULATED_ROLES)[number];

  /** The address. A label after a plus sign, such as `bounced+a-label@…`, keeps the behavior. */
  @ApiProperty({ example: 'bounced@simulator.posthorn.example' })
  address: string;
}

/** The simulator of this installation. */
export class SimulatorDetail {
  /**
   * Host name of the simulator's addresses. Any address at this host can be used as `from`, without a domain of your
   * own.
   */
  @ApiProperty({ example: 'simulator.posthorn.example' })
  host: string;

  /** Addresses that simulate a recipient. No mail leaves the installation for them. */
  @ApiProperty({ type: [SimulatedAddressItem] })
  addresses: SimulatedAddressItem[];

  /**
   * `true` if mail to all other addresses also stays inside the installation: in the test environment, and with the
   * transport `capture:`, which delivers it to the installation's aliases.
   */
  @ApiProperty({ example: true })
  captured: boolean;
}
