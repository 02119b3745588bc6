import { candidates, parseSearch } from './search.js';

describe('parseSearch', () => {
  it.each<[string, string, { domains: string[]; ndots: number }]>([
    ['nothing', '', { domains: [], ndots: 1 }],
    [
      'domains and ndots, as in a Kubernetes pod',
      'nameserver 10.96.0.10\nsearch apps.svc.cluster.local svc.cluster.local\noptions edns0 ndots:5\n',
      { domains: ['apps.svc.cluster.local', 'svc.cluster.local'], ndots: 5 },
    ],
    [
      'the last line of each kind wins',
      'search a.example\ndomain B.example.\noptions ndots:2\noptions ndots:3',
      { domains: ['b.example'], ndots: 3 },
    ],
    ['comments', '# search a.example\n; options ndots:4\nsearch b.example ; c\n', { domains: ['b.example'], ndots: 1 }],
    [
      'not more than the limits of glibc',
      'search a b c d e f g\noptions ndots:99',
      { domains: ['a', 'b', 'c', 'd', 'e', 'f'], ndots: 15 },
    ],
    ['a root domain, which disables searching', 'search .', { domains: [], ndots: 1 }],
  ])('%s', (_what, text, expected) => {
    expect(parseSearch(text, 'host')).toEqual(expected);
  });

  it('searches the domain of the host if the file specifies none', () => {
    expect(parseSearch('', 'worker-1.example.net').domains).toEqual(['example.net']);
  });
});

describe('candidates', () => {
  const pod = { domains: ['svc.local', 'local'], ndots: 2 };

  it.each([
    ['receiver', ['receiver.svc.local', 'receiver.local', 'receiver']],
    ['hooks.example.com', ['hooks.example.com', 'hooks.example.com.svc.local', 'hooks.example.com.local']],
    ['receiver.', ['receiver']],
  ])('%s', (name, expected) => {
    expect(candidates(name, pod)).toEqual(expected);
  });
});
