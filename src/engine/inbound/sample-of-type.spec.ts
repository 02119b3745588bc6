import { eventTypeOf } from './classify.js';
import { PRESETS as ALL } from './presets.js';
import { sampleOfType } from './sample.js';

const PRESETS = [...ALL.values()];

/** Presets whose samples have one type alone: it is made of something that is no name, or stands nowhere. */
const FIXED = new Set<string>();

describe('sampleOfType', () => {
  it.each(PRESETS.map((preset) => [preset.id, preset] as const))(
    '%s: the sample is of the type that was asked for, or there is none',
    (id, preset) => {
      const sample = sampleOfType(preset, 'thing.changed');

      if (sample === null) FIXED.add(id);
      else
        expect(eventTypeOf(preset, { headers: Object.entries(sample.headers), body: Buffer.from(sample.body) })).toBe(
          'thing.changed',
        );
    },
  );

  it('can be chosen for most presets, and for those that are asked for most', () => {
    expect(FIXED.size).toBeLessThan(PRESETS.length / 3);
    for (const id of ['stripe', 'github', 'shopify', 'slack']) expect(FIXED.has(id)).toBe(false);
  });

  it('a part that need not be there is left out with a type of one word', () => {
    const github = PRESETS.find(({ id }) => id === 'github');
    const sample = github && sampleOfType(github, 'push');

    expect(sample?.headers['x-github-event']).toBe('push');
    expect(JSON.parse(sample?.body ?? '{}')).not.toHaveProperty('action');
  });
});
