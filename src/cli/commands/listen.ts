import type { Command } from 'commander';
import { endpointNamed } from '../endpoint-name.js';
import { CommandFailure, EXIT } from '../failure.js';
import { targetOf } from '../forward.js';
import { type Globals, terminalOf, wholeNumber } from '../globals.js';
import { localTarget } from '../local-target.js';
import { clientOf } from '../sessions.js';
import { line, type Terminal } from '../terminal.js';
import { CONCURRENCY_DEFAULT, type Forwarded, type Notice, Tunnel } from '../tunnel.js';
import { gapText } from './events.js';

const CONCURRENCY_MAX = 100;

export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .description('forward received webhooks to a program on this machine')
    .requiredOption('--forward-to <target>', 'where to: 3000, localhost:3000/hook, or a whole URL')
    .option('--endpoint <id>', 'forward only requests to this endpoint: its ep_ id or its slug')
    .option(
      '--concurrency <count>',
      `maximum number of requests to forward at the same time, 1 to ${CONCURRENCY_MAX}`,
      wholeNumber,
      CONCURRENCY_DEFAULT,
    )
    .option('--resume', 'continue where the last run of the same tunnel ended')
    .addHelpText(
      'after',
      `
Examples:
  posthorn listen --forward-to localhost:3000/hook
  posthorn listen --forward-to 3000 --endpoint stripe --resume

This machine needs no inbound connections. Each request is forwarded byte for byte. Requests are sent in the order of arrival, up
to --concurrency of them at the same time. With 1, each request waits for the response to the previous one. The provider's response does
not change. The tunnel reconnects after restarts and broken connections, and reports requests that are forwarded late, again, or not at all.
Needs a key of scope write: with a key of scope read, authentication headers are not forwarded.`,
    )
    .action(
      async (
        options: { forwardTo: string; endpoint?: string; concurrency: number; resume?: true },
        command: Command,
      ) => {
        const terminal = terminalOf(command);
        const to = localTarget(options.forwardTo);
        const { concurrency } = options;
        if (concurrency < 1 || concurrency > CONCURRENCY_MAX)
          throw new CommandFailure(`--concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}.`, EXIT.usage);
        const client = clientOf(command.optsWithGlobals<Globals>());
        const endpoint = options.endpoint === undefined ? null : await endpointNamed(client, options.endpoint);
        const stop = new AbortController();
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
        const hooks = {
          forwarded: (forwarded: Forwarded) => showForwarded(terminal, forwarded, to),
          notice: (notice: Notice) => showNotice(terminal, notice, endpoint?.url ?? 'every endpoint', to),
        };
        await new Tunnel(client, to, endpoint?.id ?? null, hooks, { concurrency }).run(
          options.resume ?? false,
          stop.signal,
        );
      },
    );
}

function showForwarded(
  terminal: Terminal,
  { event_id, endpoint, request, answer, is_again, is_late }: Forwarded,
  to: URL,
): void {
  const notes = [
    ...(is_late ? ['late'] : []),
    ...(is_again ? ['again: it may have been forwarded before'] : []),
    ...(request?.status === 'quarantined' ? ['its signature was invalid'] : []),
  ];
  if (terminal.isJson) {
    return terminal.show({
      kind: 'forwarded',
      event_id,
      endpoint,
      method: request?.method ?? null,
      target: request && targetOf(request, to),
      status: answer?.status ?? null,
      error: answer?.error ?? (answer === null ? 'gone' : null),
      duration_ms: answer?.durationMs ?? null,
      is_again,
      is_late,
    });
  }
  if (request === null || answer === null)
    return terminal.say(line`${event_id}  ${endpoint}  ${terminal.paint('red', 'NOT FORWARDED: its request is gone')}`);
  const isGood = answer.status !== null && answer.status < 400;
  const outcome = terminal.paint(isGood ? 'green' : 'red', String(answer.status ?? answer.error));
  terminal.say(
    line`${request.received_at.slice(11, 23)}  ${event_id}  ${endpoint}  ${request.method} ${targetOf(request, to)}  ${outcome}  ${answer.durationMs} ms${notes.length > 0 ? `  (${notes.join('; ')})` : ''}`,
  );
}

function showNotice(terminal: Terminal, notice: Notice, what: string, to: URL): void {
  if (notice.kind === 'ready') terminal.progress(`Forwarding requests received by ${what} to ${to.href}.`);
  if (notice.kind === 'lost')
    terminal.progress(`${notice.reason} Connecting again in ${Math.ceil(notice.retryMs / 1_000)} s.`);
  if (notice.kind === 'waiting') terminal.progress(`${notice.reason} Waiting for it.`);
  if (notice.kind === 'hidden')
    terminal.progress(
      'This key has scope read, so authentication headers are not forwarded. Run `posthorn login --scope write`.',
    );
  if (notice.kind === 'gap') {
    terminal.progress(
      `${gapText(notice.gap)}${notice.gap.since === null ? '' : ' Requests received since then are forwarded now, as late.'}`,
    );
    if (terminal.isJson) terminal.show({ kind: 'gap', ...notice.gap });
  }
}
