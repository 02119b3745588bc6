import type { Command } from 'commander';
import { CommandFailure, EXIT } from './failure.js';
import { Terminal } from './terminal.js';

export interface Globals {
  url?: string;
  json?: boolean;
}

export function terminalOf(command: Command): Terminal {
  return new Terminal(command.optsWithGlobals<Globals>().json ?? false);
}

/** Parses a `name: value` pair and adds it to the earlier pairs. */
export function collectPairs(text: string, before: Record<string, string> = {}): Record<string, string> {
  const colon = text.search(/[:=]/);
  if (colon < 1) throw new CommandFailure(`${JSON.stringify(text)} does not have the form name:value.`, EXIT.usage);
  return { ...before, [text.slice(0, colon).trim()]: text.slice(colon + 1).trim() };
}

export function positiveNumber(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new CommandFailure('The number must be at least 1.', EXIT.usage);
  return number;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new CommandFailure(`${JSON.stringify(text)} is not a whole number.`, EXIT.usage);
  return Number(text);
}
