import { parseHosts } from './hosts.js';

describe('parseHosts', () => {
  it('returns every name of a line in any case, with the addresses of all its lines in order', () => {
    const hosts = parseHosts(
      '# a comment\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost\n10.0.0.7  Receiver.Test receiver # here\r\n10.0.0.7 receiver\n',
    );

    expect(hosts.get('localhost')).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(hosts.get('receiver.test')).toEqual([{ address: '10.0.0.7', family: 4 }]);
    expect(hosts.get('receiver')).toEqual([{ address: '10.0.0.7', family: 4 }]);
    expect(hosts.has('here')).toBe(false);
  });

  it('ignores invalid lines', () => {
    expect([...parseHosts('\nreceiver 10.0.0.7\n10.0.0 short\n10.0.0.1\n')]).toEqual([]);
  });
});
