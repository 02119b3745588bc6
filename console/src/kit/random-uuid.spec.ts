import { randomUuid } from './random-uuid';

it('creates distinct UUIDs of version 4', () => {
  const made = Array.from({ length: 200 }, randomUuid);

  for (const uuid of made) expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(made).size).toBe(200);
});
