import { groupFaults } from './group-faults';

const fault = (status: number, message: string, requestId: string): Error =>
  Object.assign(new Error(message), { status, type: 'internal', requestId });

describe('groupFaults', () => {
  it('puts equal errors of different requests into one group, with the names of their parts', () => {
    const [first, second, other] = [fault(500, 'a', 'req_1'), fault(500, 'a', 'req_2'), fault(503, 'a', 'req_3')];

    expect(
      groupFaults([
        { name: 'Totals', fault: first },
        { name: 'Plots', fault: null },
        { name: 'Jobs', fault: other },
        { name: 'Targets', fault: second },
      ]),
    ).toEqual([
      { key: 'internal 500 a', faults: [first, second], names: ['Totals', 'Targets'] },
      { key: 'internal 503 a', faults: [other], names: ['Jobs'] },
    ]);
  });

  it.each([null, undefined])('%s is no error', (none) => {
    expect(groupFaults([{ name: 'Totals', fault: none }])).toEqual([]);
  });
});
