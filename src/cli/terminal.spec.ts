import { PassThrough } from 'node:stream';
import { json, line, Terminal } from './terminal.js';

/** Characters that a terminal may interpret as commands, or that change the displayed order of a line. */
const HOSTILE = 'a\x1b]0;owned\x07b\x9b31mc\r\x08\x7f\u202ed\u2028e';
const COMMANDS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]/;

function terminal(
  env: NodeJS.ProcessEnv = {},
  isTTY = true,
  isJson = false,
): { terminal: Terminal; said: () => string } {
  const out = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  return {
    terminal: new Terminal(isJson, out, out, env),
    said: () => String((out as unknown as PassThrough).read() ?? ''),
  };
}

describe('Terminal', () => {
  it.each<[string, (to: Terminal) => void]>([
    ['say', (to) => to.say(HOSTILE)],
    ['a line', (to) => to.say(line`${HOSTILE}  ${1}`)],
    ['progress', (to) => to.progress(HOSTILE)],
    ['painted', (to) => to.say(to.paint(null, HOSTILE))],
    ['a table', (to) => to.list([HOSTILE], [{ title: 'A', value: (row) => row, style: () => null }], 'none')],
    ['fields', (to) => to.fields({}, [['A', HOSTILE]])],
    ['pretty JSON', (to) => to.show({ a: HOSTILE })],
    ['a text', (to) => to.show({}, () => HOSTILE)],
  ])('%s: untrusted text cannot control the terminal', (_what, say) => {
    const { terminal: to, said } = terminal({ NO_COLOR: '1' });

    say(to);

    const text = said();
    expect(text).toMatch(/a.*owned/);
    expect(text).not.toMatch(COMMANDS);
  });

  it('JSON represents the same value for programs and people, and contains no control characters', () => {
    const { terminal: to, said } = terminal({}, true, true);
    to.show({ a: HOSTILE });
    const text = said();

    expect(JSON.parse(text)).toEqual({ a: HOSTILE });
    expect(text).not.toMatch(COMMANDS);
    expect(JSON.parse(json([HOSTILE, null], 2))).toEqual([HOSTILE, null]);
  });

  it('uses colours only on a terminal and without NO_COLOR (an empty one does not count), and keeps its own colours in a line', () => {
    const painted = (env: NodeJS.ProcessEnv, isTTY = true): string => {
      const { terminal: to, said } = terminal(env, isTTY);
      to.say(line`x ${to.paint('red', 'dlq')}`);
      return said();
    };

    expect(painted({})).toBe('x \x1b[31mdlq\x1b[39m\n');
    expect(painted({ NO_COLOR: '' })).toBe('x \x1b[31mdlq\x1b[39m\n');
    for (const plain of [painted({ NO_COLOR: '1' }), painted({ TERM: 'dumb' }), painted({}, false)])
      expect(plain).toBe('x dlq\n');
  });
});
