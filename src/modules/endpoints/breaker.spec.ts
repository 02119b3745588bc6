import { Breaker } from './breaker.js';

test('three failures in a row open it for half a minute, and then one more failure does', () => {
  let nowMs = 0;
  const breaker = new Breaker(() => nowMs);
  breaker.count('a', false);
  breaker.count('a', false);
  expect(breaker.isOpen('a')).toBe(false);
  breaker.count('a', false);
  expect(breaker.isOpen('a')).toBe(true);
  expect(breaker.isOpen('b')).toBe(false);
  nowMs = 30_000;
  expect(breaker.isOpen('a')).toBe(false);
  breaker.count('a', false);
  expect(breaker.isOpen('a')).toBe(true);
});

test('a success forgets the failures before it', () => {
  const breaker = new Breaker(() => 0);
  breaker.count('a', false);
  breaker.count('a', false);
  breaker.count('a', true);
  breaker.count('a', false);
  expect(breaker.isOpen('a')).toBe(false);
});

test('it remembers ten thousand keys and no more', () => {
  const breaker = new Breaker(() => 0);
  for (let i = 0; i < 3; i += 1) breaker.count('first', false);
  for (let i = 0; i < 10_000; i += 1) breaker.count(`key ${i}`, false);
  expect(breaker.isOpen('first')).toBe(false);
});
