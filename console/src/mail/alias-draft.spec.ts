import { draftRoutes, readRoutes, sendersOf } from './alias-draft';

const FILTER = { path: '$.subject', op: 'starts_with', value: 'Invoice' };

describe('draft of an alias', () => {
  it('unchanged routes are written back as read', () => {
    const routes = [
      { destination: 'dst_1', filter: FILTER },
      { destination: 'dst_2', filter: null },
    ];

    expect(readRoutes(draftRoutes({ routes }), '')).toEqual(routes.map((route) => ({ ...route, fault: null })));
    expect(draftRoutes(null)).toEqual([]);
  });

  it.each([
    ['{subject}', { line: 1 }],
    ['["$.subject"]', { line: 1, message: 'no object' }],
    [
      '{\n  "path": "$.order",\n  "op": "eq",\n  "value": 12345678901234567890\n}',
      { line: 4, number: '12345678901234567890' },
    ],
  ])('the invalid filter %j is reported with its line, and is not used', (filter, fault) => {
    expect(
      readRoutes(
        [
          { destination: 'dst_1', filter: '' },
          { destination: 'dst_2', filter },
        ],
        'no object',
      ),
    ).toEqual([
      { destination: 'dst_1', filter: null, fault: null },
      { destination: 'dst_2', filter: null, fault: expect.objectContaining(fault) },
    ]);
  });

  it.each([
    ['', []],
    ['a@b.example\n@c.example, *.d.example;a@b.example\n', ['a@b.example', '@c.example', '*.d.example']],
  ])('senders: %j', (text, senders) => {
    expect(sendersOf(text)).toEqual(senders);
  });
});
