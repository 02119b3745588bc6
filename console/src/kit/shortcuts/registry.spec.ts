import { readKey, SHORTCUTS } from './registry';

const key = (name: string, more: object = {}): Parameters<typeof readKey>[0] => ({
  key: name,
  isMod: false,
  isAlt: false,
  isTyping: false,
  ...more,
});

describe('readKey', () => {
  it.each<[ReturnType<typeof key>, string | null, string | null, string | null]>([
    [key('k', { isMod: true }), null, 'menu', null],
    [key('K', { isMod: true }), null, 'menu', null],
    [key('k', { isMod: true, isTyping: true }), null, 'menu', null],
    [key('j'), null, 'next', null],
    [key('j', { isTyping: true }), null, null, null],
    [key('j', { isAlt: true }), null, null, null],
    [key('g'), null, null, 'g'],
    [key('e'), 'g', 'events', null],
    [key('q'), 'g', null, null],
    [key('z'), null, 'undo', null],
    [key('z', { isMod: true, isTyping: true }), null, null, null],
    [key('?'), 'g', 'help', null],
    [key('e'), null, null, null],
  ])('%j after %j: %j', (pressed, before, id, after) => {
    expect(readKey(pressed, before)).toEqual({ id, after });
  });

  it('no two shortcuts have the same keys', () => {
    const all = Object.values(SHORTCUTS).flatMap(({ keys }) => keys as readonly string[]);

    expect(new Set(all).size).toBe(all.length);
  });
});
