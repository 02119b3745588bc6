import { messageStateOf } from './message-state';

it.each([
  ['received', 'received'],
  ['quarantined', 'quarantined'],
  ['ignored', 'processed'],
  ['delivered', 'processed'],
  ['retrying', 'processed'],
  ['parked', 'processed'],
])('a message whose event is %s is %s', (status, state) => {
  expect(messageStateOf(status)).toBe(state);
});
