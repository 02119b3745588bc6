import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasPythonModules, hasTool } from './optional-tools.js';
import type { PosthornServer } from './server.js';

const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const INSTALL = 'set POSTHORN_TEST_PYTHON to a python with schemathesis, as .ci/run does';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'negative_data_rejection',
  'missing_required_header',
  'ignored_auth',
];

export interface Fuzzing {
  seed: number;
  /** Maximum duration of the whole run. */
  secondsMax: number;
  /** Phases of the run, by the names that schemathesis uses. */
  phases: string;
  /** Maximum number of cases per operation. */
  examplesMax: number;
  apiKey: string;
  /** Ids of existing resources. On paths that match `paths`, they replace the parameters of the given names. */
  known: readonly { paths: RegExp; parameters: Record<string, readonly string[]> }[];
  /** The paths of the OpenAPI document. */
  paths: readonly string[];
}

/** Returns whether schemathesis is installed. CI must have it. */
export const isSchemathesisInstalled = (): boolean =>
  hasTool({ skipped: 'the fuzzing of the document', tool: 'Python with schemathesis', install: INSTALL }, () =>
    hasPythonModules(PYTHON, 'schemathesis'),
  );

/** Fuzzes a service by its OpenAPI document. Returns the failures, or an empty text if there are none. */
export async function fuzz(
  server: PosthornServer,
  fuzzing: Fuzzing,
): Promise<{ status: number | null; report: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-fuzz-'));
  const config = path.join(folder, 'schemathesis.toml');
  writeFileSync(config, configOf(fuzzing));
  writeFileSync(path.join(folder, HOOKS_FILE), HOOKS);
  const { seed, secondsMax, phases, examplesMax, apiKey } = fuzzing;
  // Uses one worker, because CPython 3.11 cannot compile in several threads at once ("AST constructor recursion depth
  // mismatch").
  const child = spawn(
    PYTHON,
    [
      '-m',
      'schemathesis.cli',
      '--config-file',
      config,
      '--no-color',
      'run',
      `${server.url}/openapi.json`,
      '--exclude-path-regex',
      NOT_FUZZED,
      '--seed',
      String(seed),
      '--generation-database',
      'none',
      '--max-examples',
      String(examplesMax),
      '--max-time',
      String(secondsMax),
      '--phases',
      phases,
      '--checks',
      CHECKS.join(','),
      '--continue-on-failure',
      '--workers',
      '1',
      '--request-timeout',
      '30',
      '--warnings',
      'off',
      '-H',
      `Authorization: Bearer ${apiKey}`,
    ],
    { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: folder, COLUMNS: '180' } },
  );
  let report = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (report += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  rmSync(folder, { recursive: true, force: true });
  return { status, report };
}

/** Paths that are not fuzzed: an endless stream, MCP with its own error format, and a route that needs SES_TOPICS. */
const NOT_FUZZED = '^/(v1/events/stream|mcp|v1/providers/ses/notifications)$';

const HOOKS_FILE = 'hooks.py';
/**
 * Replaces each valid idempotency key by a new one. With the same key, body and path, the service repeats its first
 * response, also to a request whose query is invalid.
 */
const HOOKS = `
import uuid
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    key = (case.headers or {}).get("Idempotency-Key")
    try:
        uuid.UUID(key)
    except (AttributeError, TypeError, ValueError):
        return
    case.headers["Idempotency-Key"] = str(uuid.uuid4())
`;

/** Returns the configuration in TOML. Values are written as JSON, because JSON strings and lists are valid TOML. */
function configOf({ known, paths }: Fuzzing): string {
  const lines: string[] = [];
  const operations: string[] = [];
  known.forEach(({ paths: pattern, parameters }, i) => {
    for (const [name, values] of Object.entries(parameters)) {
      lines.push(`[dictionaries.known_${i}_${name}]`, `values = ${JSON.stringify(values)}`);
      for (const each of paths.filter((at) => pattern.test(at) && at.includes(`{${name}}`))) {
        operations.push(
          '[[operations]]',
          `include-path = ${JSON.stringify(each)}`,
          `parameters = { "path.${name}" = { dictionary = "known_${i}_${name}", probability = 0.7 } }`,
        );
      }
    }
  });
  // Also accepts 413 (body too large) as a rejection of invalid data.
  const rejections = '400, 401, 403, 404, 406, 409, 413, 415, 422, 429, 431';
  const rejected = ['[checks.negative_data_rejection]', `expected-statuses = [${rejections}]`];
  // In a batch, an invalid email fails alone, and the batch itself is accepted. `enabled = false` has no effect here,
  // because the check is named on the command line.
  const batch = [
    '[[operations]]',
    'include-path = "/v1/emails/batch"',
    '[operations.checks.negative_data_rejection]',
    `expected-statuses = [202, ${rejections}]`,
  ];
  return [`hooks = ${JSON.stringify(HOOKS_FILE)}`, ...rejected, ...lines, ...operations, ...batch].join('\n');
}
