import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { SIMULATED_ROLES } from '#engine/mail/simulator.js';
import { IsArrayOf } from '#http/validation.js';

/** An address that simulates a recipient. */
export class SimulatedAddressItem {
  /**
   * The simulated behavior: mail to the address is delivered, bounces, draws a complaint, is suppressed, or is
   * deferred.
   */
  @ApiProperty({ example: 'bounced' })
  @IsIn(SIMULATED_ROLES)
  role: (typeof SIMULATED_ROLES)[number];

  /** The address. A label after a plus sign, such as `bounced+a-label@…`, keeps the behavior. */
  @ApiProperty({ example: 'bounced@simulator.posthorn.example' })
  @IsString()
  address: string;
}

/** The simulator of this installation. */
export class SimulatorDetail {
  /**
   * Host name of the simulator's addresses. Any address at this host can be used as `from`, without a domain of your
   * own.
   */
  @ApiProperty({ example: 'simulator.posthorn.example' })
  @IsString()
  host: string;

  /** Addresses that simulate a recipient. No mail leaves the installation for them. */
  @IsArrayOf(() => SimulatedAddressItem)
  addresses: SimulatedAddressItem[];

  /**
   * `true` if mail to all other addresses also stays inside the installation: in the test environment, and with the
   * transport `capture:`, which delivers it to the installation's aliases.
   */
  @ApiProperty({ example: true })
  @IsBoolean()
  captured: boolean;
}
