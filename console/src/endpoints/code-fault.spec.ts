import { codeFaultOf, readCodeFault } from './code-fault';

describe('errors in code', () => {
  it.each([
    ['TypeError: no (line 3)', { line: 3, message: 'TypeError: no' }],
    ['does not compile: expecting ) (line 12).', { line: 12, message: 'does not compile: expecting )' }],
    ['timeout', { line: null, message: 'timeout' }],
  ])('%s', (message, fault) => {
    expect(readCodeFault(message)).toEqual(fault);
  });

  it('only the error of the code itself is returned', () => {
    const fault = {
      fields: [
        { path: 'name', message: 'no' },
        { path: 'transform.code', message: 'bad (line 2)' },
      ],
    };

    expect(codeFaultOf(fault, 'transform.code')).toEqual({ line: 2, message: 'bad' });
    expect(codeFaultOf(fault, 'responseProxy.code')).toBeNull();
    expect(codeFaultOf(null, 'transform.code')).toBeNull();
  });
});
