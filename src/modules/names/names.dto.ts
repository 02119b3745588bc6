import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import { CanBeNull, IsArrayOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import type { ResourceName } from './resource-names.store.js';

/** Maximum number of ids in one request. */
const IDS_MAX = 100;

/** Resources whose names to return. */
export class NamesQuery {
  /** Id of a destination (`dst_`), an endpoint (`ep_`) or an application (`app_`). Repeat the parameter for more ids. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(IDS_MAX)
  @IsString({ each: true })
  @MaxLength(64, { each: true })
  id: string[];
}

/** Name of a resource. */
export class NameItem {
  /** Id of the resource, as in the request. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Name. For an endpoint of an application, its description, or else the host and path of its URL. */
  @ApiProperty({ example: 'Orders' })
  @IsString()
  name: string;

  /**
   * Type of the destination, or of the destination to which an application's endpoint delivers. `null` for other
   * resources.
   */
  @ApiProperty({ example: 'https' })
  @CanBeNull()
  @IsString()
  type: string | null;

  /** Id of the application that has the endpoint. `null` for other resources. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  application: string | null;
}

/** Names of resources. */
export class NameList {
  /** Names of the existing resources, in no particular order. */
  @IsArrayOf(() => NameItem)
  data: NameItem[];
}

export function presentNames(names: readonly ResourceName[]): NameList {
  return {
    data: names.map(({ prefix, id, name, type, applicationId }) => ({
      id: showId(prefix, id),
      name,
      type,
      application: applicationId && showId('app', applicationId),
    })),
  };
}
