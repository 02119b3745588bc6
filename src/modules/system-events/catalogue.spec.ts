import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { CATALOGUE } from './catalogue.js';
import { SYSTEM_EVENT_TYPES } from './contract.js';

const ajv = new Ajv2020.Ajv2020({ allErrors: true, strict: true, strictRequired: false });
addFormats.default(ajv);

describe('the catalogue', () => {
  it('has every type once, ordered by name', () => {
    expect(CATALOGUE.map(({ type }) => type)).toEqual([...SYSTEM_EVENT_TYPES]);
    expect([...SYSTEM_EVENT_TYPES].sort()).toEqual([...SYSTEM_EVENT_TYPES]);
  });

  it.each(CATALOGUE.map((entry) => [entry.type, entry] as const))(
    '%s: its example has this type and matches its schema',
    (type, { schema, example }) => {
      const validate = ajv.compile(schema);

      expect(example.type).toBe(type);
      expect([validate(example.data), validate.errors]).toEqual([true, null]);
    },
  );

  it.each(CATALOGUE.map((entry) => [entry.type, entry] as const))(
    '%s: its schema rejects an item without a count, and an item without a subject',
    (_type, { schema, example }) => {
      const validate = ajv.compile(schema);
      const [{ count: _count, ...uncounted } = {}] = example.data['items'] as Record<string, unknown>[];

      expect(validate({ ...example.data, items: [uncounted] })).toBe(false);
      expect(validate({ ...example.data, items: [{ count: 1 }] })).toBe(false);
    },
  );

  it('identifies a target either by its destination, or by its endpoint and application', () => {
    const [opened] = CATALOGUE.filter(({ type }) => type === 'circuit.opened');
    const validate = ajv.compile(opened?.schema ?? {});
    const data = opened?.example.data as { items: Record<string, unknown>[] };
    const ulid = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
    const about = (item: object): boolean => validate({ ...data, items: [{ ...item, count: 1 }] });

    expect(about({ endpoint: `ep_${ulid}`, application: `app_${ulid}` })).toBe(true);
    expect(about({ endpoint: `ep_${ulid}` })).toBe(false);
    expect(about({ destination: `dst_${ulid}`, name: 'One', endpoint: `ep_${ulid}`, application: `app_${ulid}` })).toBe(
      false,
    );
    expect(about({ destination: ulid, name: 'One' })).toBe(false);
  });
});
