import { localTarget } from './local-target.js';

describe('localTarget', () => {
  it.each([
    ['3000', 'http://localhost:3000/'],
    [':3000', 'http://localhost:3000/'],
    ['3000/hook', 'http://localhost:3000/hook'],
    ['3000?a=1', 'http://localhost:3000/?a=1'],
    [' 3000\n', 'http://localhost:3000/'],
    ['localhost:3000/x', 'http://localhost:3000/x'],
    ['localhost', 'http://localhost/'],
    ['LOCALHOST:3000', 'http://localhost:3000/'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
    ['[::1]:3000/x', 'http://[::1]:3000/x'],
    ['app.test:8080/a/b?c=d', 'http://app.test:8080/a/b?c=d'],
    ['http://localhost:3000/x', 'http://localhost:3000/x'],
    ['HTTPS://localhost/x', 'https://localhost/x'],
    ['http://127.0.0.1', 'http://127.0.0.1/'],
  ])('reads %j as %s', (text, url) => {
    expect(localTarget(text).href).toBe(url);
  });

  it.each([
    '',
    ' ',
    '0',
    ':0',
    '99999',
    '65536/x',
    '123456',
    '3.14',
    '127.1',
    '0x7f.1',
    'localhost:abc',
    'localhost:3000:4000',
    '::1',
    '[::1',
    'ftp://localhost',
    'file:///etc/passwd',
    'localhost://3000',
    'http:3000',
    'http:/localhost',
    'https:',
    'http://',
    '//',
    '/hook',
    'a b',
    'localhost:3000/a b',
    'mailto:a@b',
    'javascript:alert(1)',
    'http://user:hunter2@localhost',
    'user:hunter2@localhost',
    'http://user:hun#hunter2@localhost',
    'localhost:3000/x#y',
  ])('rejects %j with a usage failure that does not repeat the password', (text) => {
    const read = (): unknown => localTarget(text);

    expect(read).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(/^--forward-to .+\.$/) }),
    );
    expect(read).not.toThrow(/hunter2/);
  });
});
