import { eventTypeOf } from './classify.js';
import { PRESETS as ALL } from './presets.js';
import { sampleOfType } from './sample.js';

const PRESETS = [...ALL.values()];

/**
 * Collects the presets for which `sampleOfType` returns null: their event type is not read from a single member or
 * header.
 */
const FIXED = new Set<string>();

describe('sampleOfType', () => {
  it.each(PRESETS.map((preset) => [preset.id, preset] as const))(
    '%s: the sample has the requested type, or is null',
    (id, preset) => {
      const sample = sampleOfType(preset, 'thing.changed');

      if (sample === null) FIXED.add(id);
      else
        expect(eventTypeOf(preset, { headers: Object.entries(sample.headers), body: Buffer.from(sample.body) })).toBe(
          'thing.changed',
        );
    },
  );

  it('the type can be chosen for most presets, including the most popular ones', () => {
    expect(FIXED.size).toBeLessThan(PRESETS.length / 3);
    for (const id of ['stripe', 'github', 'shopify', 'slack']) expect(FIXED.has(id)).toBe(false);
  });

  it('a type of one word leaves out an optional part', () => {
    const github = PRESETS.find(({ id }) => id === 'github');
    const sample = github && sampleOfType(github, 'push');

    expect(sample?.headers['x-github-event']).toBe('push');
    expect(JSON.parse(sample?.body ?? '{}')).not.toHaveProperty('action');
  });
});
