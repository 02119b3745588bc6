import { NameLookup } from './name-lookup';

interface Named {
  id: string;
  name: string;
}

function lookupThat(answer: (ids: string[]) => Promise<Named[]>): { lookup: NameLookup<Named>; requests: string[][] } {
  const requests: string[][] = [];
  const lookup = new NameLookup((ids: string[]) => {
    requests.push(ids);
    return answer(ids);
  });
  return { lookup, requests };
}

const named = async (ids: string[]): Promise<Named[]> => ids.map((id) => ({ id, name: `Name of ${id}` }));

describe('NameLookup', () => {
  it('combines the look-ups of a page into one request', async () => {
    const { lookup, requests } = lookupThat(named);

    const found = await Promise.all(['a', 'b', 'c'].map((id) => lookup.find(id)));

    expect(found.map((each) => each?.name)).toEqual(['Name of a', 'Name of b', 'Name of c']);
    expect(requests).toEqual([['a', 'b', 'c']]);
  });

  it('splits more than 100 ids into several requests', async () => {
    const { lookup, requests } = lookupThat(named);
    const ids = Array.from({ length: 250 }, (_, i) => String(i));

    const found = await Promise.all(ids.map((id) => lookup.find(id)));

    expect(found.map((each) => each?.id)).toEqual(ids);
    expect(requests.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('returns null for a resource that does not exist', async () => {
    const { lookup } = lookupThat(async () => []);

    expect(await lookup.find('a')).toBeNull();
  });

  it('rejects all look-ups of a request that fails, and sends a new request for later ones', async () => {
    let isDown = true;
    const { lookup, requests } = lookupThat((ids) => (isDown ? Promise.reject(new Error('Down.')) : named(ids)));

    const results = await Promise.allSettled([lookup.find('a'), lookup.find('b')]);
    isDown = false;

    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await lookup.find('a')).toEqual({ id: 'a', name: 'Name of a' });
    expect(requests).toEqual([['a', 'b'], ['a']]);
  });
});
