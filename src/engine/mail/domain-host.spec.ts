import fc from 'fast-check';
import { readHost } from './domain-host.js';

const PLATFORM = 'posthorn.example';

describe('readHost', () => {
  it.each([
    ['example.com', 'example.com'],
    [' Mail.Example.COM. ', 'mail.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['faß.example', 'xn--fa-hia.example'],
    ['example.co.uk', 'example.co.uk'],
    ['co.de', 'co.de'],
    ['me.github.io', 'me.github.io'],
    ['notposthorn.example', 'notposthorn.example'],
    [`${'a'.repeat(63)}.example.com`, `${'a'.repeat(63)}.example.com`],
  ])('%s is %s', (text, host) => {
    expect(readHost(text, PLATFORM)).toEqual({ host });
  });

  it.each([
    [''],
    ['.'],
    ['com'],
    ['localhost'],
    ['a.localhost'],
    ['printer.local'],
    ['x.onion'],
    ['db.internal'],
    ['1.0.0.127.in-addr.arpa'],
    ['co.uk'],
    ['com.au'],
    ['github.io'],
    ['posthorn.example'],
    ['POSTHORN.example.'],
    ['mx.posthorn.example'],
    ['127.0.0.1'],
    ['0x7f.1'],
    ['2130706433'],
    ['::1'],
    ['[::1]'],
    ['example.com:25'],
    ['https://example.com'],
    ['example.com/x'],
    ['a@example.com'],
    ['exa mple.com'],
    ['exam\nple.com'],
    ['*.example.com'],
    ['_dmarc.example.com'],
    ['-a.example.com'],
    ['a-.example.com'],
    ['a..example.com'],
    ['%65xample.com'],
    [`${'a'.repeat(64)}.example.com`],
    [`${'a.'.repeat(126)}example.com`],
    ['ex\u0000ample.com'],
  ])('%j is rejected with a message', (text) => {
    expect(readHost(text, PLATFORM)).toEqual({ fault: expect.stringMatching(/^(must|ends|is) /) });
  });

  it('returns its own results unchanged, and they are valid names', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string(), fc.webAuthority()), (text) => {
        const reading = readHost(text, PLATFORM);
        if (!('host' in reading)) return;
        expect(reading.host).toMatch(/^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]+$/);
        expect(readHost(reading.host, PLATFORM)).toEqual(reading);
      }),
    );
  });
});
