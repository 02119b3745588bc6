import { ApiProperty } from '@nestjs/swagger';
import type { Preset } from '#engine/inbound/preset.js';

/** What an endpoint knows of a provider. */
export class PresetItem {
  /** What `preset` of an endpoint holds. */
  @ApiProperty({ example: 'stripe' })
  id: string;

  /** The provider. */
  @ApiProperty({ example: 'Stripe' })
  name: string;

  /** What to give as the endpoint's secret, in the words of the provider's console. */
  @ApiProperty({ example: 'The signing secret of the endpoint (whsec_…).' })
  secret: string;

  /** The handshake or answer that it has (`response.type` of an endpoint); null for the default answer. */
  @ApiProperty({ type: String, nullable: true, example: null })
  response: string | null;

  /** Whether it asks for the URL with GET or HEAD, unsigned, before it saves it: answered 200, and no event. */
  @ApiProperty({ example: false })
  checks_url: boolean;

  /** Whether it repeats an id when it sends again, so that `deduplicate` can have the source `provider_id`. */
  @ApiProperty({ example: true })
  has_id: boolean;

  /** What the provider does by itself when the answer is no 2xx. */
  @ApiProperty({ example: 'Stripe retries for up to three days in live mode, with growing waits.' })
  retries: string;
}

/** All presets. */
export class PresetPage {
  /** The presets; those that are alike stand together. */
  @ApiProperty({ type: [PresetItem] })
  data: PresetItem[];

  /** Always null: there are no more. */
  @ApiProperty({ type: String, nullable: true, example: null })
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
