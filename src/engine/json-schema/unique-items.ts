import type { Budget } from './budget.js';

const CHARACTERS_A_UNIT = 4;

/** Returns whether all items differ. Takes linear time, while Ajv's own `uniqueItems` compares every pair. */
export function isUnique(list: readonly unknown[], budget: Budget): boolean {
  const seen = new Set<string>();
  for (const entry of list) {
    const text = canonical(entry, budget);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Returns equal texts for values that JSON Schema considers equal: key order and the sign of `-0` are ignored. */
function canonical(value: unknown, budget: Budget): string {
  const text = textOf(value, budget);
  budget.spend(2 + Math.ceil(text.length / CHARACTERS_A_UNIT));
  return text;
}

function textOf(value: unknown, budget: Budget): string {
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, budget)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key], budget)}`).join()}}`;
}
