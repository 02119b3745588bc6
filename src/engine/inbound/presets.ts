import type { Preset } from './preset.js';
import { BUSINESS } from './presets/business.js';
import { CLOUD } from './presets/cloud.js';
import { CODE } from './presets/code.js';
import { MEDIA } from './presets/media.js';
import { MESSAGING } from './presets/messaging.js';
import { PAYMENTS } from './presets/payments.js';
import { SOCIAL } from './presets/social.js';
import { STANDARD } from './presets/standard.js';

export const PRESETS: ReadonlyMap<string, Preset> = new Map(
  [...STANDARD, ...PAYMENTS, ...CODE, ...MESSAGING, ...SOCIAL, ...BUSINESS, ...CLOUD, ...MEDIA].map((preset) => [
    preset.id,
    preset,
  ]),
);

export function presetOf(id: string): Preset | null {
  return PRESETS.get(id) ?? null;
}
