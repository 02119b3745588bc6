import { formatResponseStatus } from './response-status';

describe('formatResponseStatus', () => {
  it.each([
    ['order.created', 503, 'HTTP 503'],
    ['email.received', 200, 'HTTP 200'],
    ['email.send', 550, 'SMTP 550'],
  ])('%s with %i: %s', (event_type, status, expected) => {
    expect(formatResponseStatus({ event_type }, status)).toBe(expected);
  });
});
