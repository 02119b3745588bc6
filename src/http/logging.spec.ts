import { loadConfig } from '#kernel/config/config.js';
import { createLogger, PinoLogger } from './logging.js';

function captured(level: string): { nest: PinoLogger; entries: () => Record<string, unknown>[] } {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger(loadConfig({ LOG_LEVEL: level }), destination).child({ process: 2 });
  return {
    nest: new PinoLogger(logger, destination),
    entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

it('redacts secrets at the top level and in two levels below', () => {
  const { nest, entries } = captured('info');
  const secret = 'hunter2';

  const headers = { cookie: secret, 'webhook-signature': secret };
  nest.log('x', { authorization: secret, headers, a: { b: { credentials: secret, key: secret } } }, 'ctx');

  expect(JSON.stringify(entries())).not.toContain(secret);
  expect(entries()[0]).toMatchObject({ authorization: '[secret]', context: 'ctx', msg: 'x' });
});

it('redacts the arguments of a command that Redis rejected', () => {
  const { nest, entries } = captured('info');
  const refused = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
    command: { name: 'auth', args: ['hunter2'] },
  });

  nest.error(refused, 'Redis');
  nest.error('failed', { err: refused }, 'Redis');

  expect(JSON.stringify(entries())).not.toContain('hunter2');
  expect(entries()).toHaveLength(2);
});

it('logs errors with their stack, and nothing below the level', () => {
  const { nest, entries } = captured('warn');

  nest.log('quiet', 'ctx');
  nest.error('failed', { request_id: 'req_1', err: new Error('boom') }, 'http');

  expect(entries()).toHaveLength(1);
  expect(entries()[0]).toMatchObject({
    level: 50,
    request_id: 'req_1',
    context: 'http',
    msg: 'failed',
    err: { message: 'boom' },
  });
});

it("accepts Nest's calling conventions", () => {
  const { nest, entries } = captured('info');

  nest.error(new Error('boom'), undefined, 'ExceptionsHandler');
  nest.log('Mapped {/v1/x, GET} route', 'RouterExplorer');
  nest.log('started', 'NestApplication');

  expect(entries().map(({ msg }) => msg)).toEqual(['boom', 'started']);
});

it('logs deliveries with the fields of the logger, before the next other line', () => {
  const { nest, entries } = captured('info');

  nest.log('Delivered.', { event_id: 'msg_1' }, 'delivery');
  expect(entries()).toEqual([]);
  nest.log('next', 'ctx');

  expect(entries()).toMatchObject([
    { level: 30, process: 2, context: 'delivery', event_id: 'msg_1', msg: 'Delivered.' },
    { process: 2, context: 'ctx', msg: 'next' },
  ]);
});
