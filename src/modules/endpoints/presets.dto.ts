import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import type { Preset } from '#engine/inbound/preset.js';
import { CanBeNull, IsArrayOf } from '#http/validation.js';

/** Settings for endpoints that receive from one provider. */
export class PresetItem {
  /** Value for the `preset` field of an endpoint. */
  @ApiProperty({ example: 'stripe' })
  @IsString()
  id: string;

  /** Name of the provider. */
  @ApiProperty({ example: 'Stripe' })
  @IsString()
  name: string;

  /** The secret that the endpoint needs, in the terms of the provider's console. */
  @ApiProperty({ example: 'The signing secret of the endpoint (whsec_…).' })
  @IsString()
  secret: string;

  /** Handshake or response of the preset (`response.type` of an endpoint). `null` for the default response. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  response: string | null;

  /**
   * `true` if the provider checks the URL with an unsigned GET or HEAD request. Such requests get 200 and create no
   * event.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  checks_url: boolean;

  /** `true` if the provider repeats an id when it resends a request. `deduplicate` can then use `provider_id`. */
  @ApiProperty({ example: true })
  @IsBoolean()
  has_id: boolean;

  /** How the provider retries after a response other than 2xx. */
  @ApiProperty({ example: 'Stripe retries for up to three days in live mode, with growing waits.' })
  @IsString()
  retries: string;
}

/** All presets. */
export class PresetPage {
  /** All presets. Similar presets are next to each other. */
  @IsArrayOf(() => PresetItem)
  data: PresetItem[];

  /** Always `null`: all presets are on one page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentPresets(presets: Iterable<Preset>): PresetPage {
  return { data: [...presets].map(presentPreset), next_cursor: null };
}

function presentPreset({ id, title, secret, response, urlCheck, dedupeId, retry }: Preset): PresetItem {
  return {
    id,
    name: title,
    secret,
    response: response?.type ?? null,
    checks_url: urlCheck !== undefined,
    has_id: dedupeId.length > 0,
    retries: retry.note,
  };
}
