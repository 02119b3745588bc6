import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { SIMULATED_ROLES } from '#engine/mail/simulator.js';
import { IsArrayOf } from '#http/validation.js';

/** An address that simulates a recipient. */
export class SimulatedAddressItem {
  /**
   * The simulated behavior: mail to this address is delivered, bounces, causes a complaint, is suppressed, or is
   * deferred.
   */
  @ApiProperty({ example: 'bounced' })
  @IsIn(SIMULATED_ROLES)
  role: (typeof SIMULATED_ROLES)[number];

  /** The simulator address. A label after a plus sign (`bounced+a-label@…`) does not change the behavior. */
  @ApiProperty({ example: 'bounced@simulator.posthorn.example' })
  @IsString()
  address: string;
}

/** The simulator of this installation. */
export class SimulatorDetail {
  /**
   * Host name of the simulator's addresses. Any address at this host can be used as `from`, without a verified domain.
   */
  @ApiProperty({ example: 'simulator.posthorn.example' })
  @IsString()
  host: string;

  /** Addresses that simulate a recipient. Mail to them is never sent to another mail server. */
  @IsArrayOf(() => SimulatedAddressItem)
  addresses: SimulatedAddressItem[];

  /**
   * `true` if mail to other addresses is not sent either. This is the case in the test environment, and with the
   * transport `capture:`, which delivers mail only to the installation's aliases.
   */
  @ApiProperty({ example: true })
  @IsBoolean()
  captured: boolean;
}
