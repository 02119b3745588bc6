import { locateFault } from './locate-fault';

const TEXT = '{\n  "rules": [\n    { "when": {\n      "op": "like"\n    } }\n  ]\n}';

describe('locateFault', () => {
  it.each([
    ['responseRules.rules.0.when.op', 4, 'rules.0.when.op: no'],
    ['responseRules.rules.0.when.value', 3, 'rules.0.when.value: no'],
    ['responseRules.default.status', 1, 'default.status: no'],
    ['responseRules', 1, 'no'],
  ])('%s is in line %d', (path, line, message) => {
    expect(locateFault(TEXT, { fields: [{ path, message: 'no' }] }, 'responseRules')).toEqual({ line, message });
  });

  it.each([[null], [new Error('no')], [{ fields: [] }], [{ fields: [{ path: 'responseRulesOther', message: 'no' }] }]])(
    '%j is not about the value',
    (fault) => {
      expect(locateFault(TEXT, fault, 'responseRules')).toBeNull();
    },
  );

  it('an error in text that is not JSON has no line', () => {
    expect(locateFault('', { fields: [{ path: 'filter', message: 'no' }] }, 'filter')).toEqual({
      line: null,
      message: 'no',
    });
  });
});
