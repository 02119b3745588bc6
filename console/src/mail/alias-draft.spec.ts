import { draftRoutes, routesOf, sendersOf } from './alias-draft';

const FILTER = { path: '$.subject', op: 'starts_with', value: 'Invoice' };

describe('what is typed of an alias', () => {
  it('routes come back as they were', () => {
    const routes = [{ destination: 'dst_1', filter: FILTER }, { destination: 'dst_2', filter: null }];

    expect(routesOf(draftRoutes({ routes }))).toEqual(routes);
    expect(draftRoutes(null)).toEqual([]);
  });

  it('a filter that is no JSON is said so', () => {
    expect(() => routesOf([{ destination: 'dst_1', filter: '{subject}' }])).toThrow(SyntaxError);
  });

  it.each([['', []], ['a@b.example\n@c.example, *.d.example;a@b.example\n', ['a@b.example', '@c.example', '*.d.example']]])('senders: %j', (text, senders) => {
    expect(sendersOf(text)).toEqual(senders);
  });
});
