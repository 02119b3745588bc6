import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsObject, IsString } from 'class-validator';
import { CanBeOmitted } from './validation.js';

/** Health of a process. */
export class HealthDto {
  /**
   * `ok` while the process runs, `ready` when it can do its work.
   * @example 'ok'
   */
  @ApiProperty({ enum: ['ok', 'ready'] })
  @IsIn(['ok', 'ready'])
  status: 'ok' | 'ready';

  /**
   * The version of Posthorn that this process runs. Present only in responses of `/health/ready`.
   * @example '0.1.0'
   */
  @ApiProperty({ required: false })
  @CanBeOmitted()
  @IsString()
  version?: string;

  /**
   * State of each component, by its name. Present only in responses of `/health/ready`.
   * @example { "storage": { "ready": true, "oldest_due_age_ms": 0 } }
   */
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: true })
  @CanBeOmitted()
  @IsObject()
  parts?: Record<string, unknown>;
}
