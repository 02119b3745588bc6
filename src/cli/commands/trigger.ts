import type { Command } from 'commander';
import { endpointNamed } from '../endpoint-name.js';
import { EXIT } from '../failure.js';
import { type Globals, terminalOf } from '../globals.js';
import { clientOf } from '../sessions.js';
import { textOf } from './send.js';

export function addTriggerCommand(program: Command): void {
  program
    .command('trigger')
    .description("send a signed sample of a provider's webhook to an endpoint, as if the provider had sent it")
    .argument('<preset>', 'for example stripe, github or shopify')
    .argument('[event]', 'the event type of the sample, for example invoice.paid')
    .requiredOption('--endpoint <id>', 'the endpoint: its ep_ id or its slug')
    .option('-d, --data <body>', "a body instead of the preset's sample: text, @file, or - for standard input")
    .addHelpText(
      'after',
      '\nExamples:\n  posthorn trigger stripe invoice.paid --endpoint stripe\n  posthorn trigger github issues.opened --endpoint ep_…\n\nThe sample is signed with the secret of the endpoint, if the scheme of the provider allows it. Set the secret with\n`posthorn endpoints secret`.',
    )
    .action(
      async (
        preset: string,
        event: string | undefined,
        { endpoint, data }: { endpoint: string; data?: string },
        command: Command,
      ) => {
        const client = clientOf(command.optsWithGlobals<Globals>());
        const { id } = await endpointNamed(client, endpoint);
        const body = {
          preset,
          ...(event !== undefined && { event_type: event }),
          ...(data !== undefined && { body: textOf(data) }),
        };
        const tested = await client.post('/v1/endpoints/{id}/test', { params: { path: { id } }, body });
        const verified =
          tested.verified === null ? 'nothing is verified' : tested.verified ? 'verified' : 'NOT verified';
        terminalOf(command).show(
          tested,
          () => `${tested.event_id ?? 'no event'}  ${verified}, answered ${tested.status}`,
        );
        if (tested.status >= 400) process.exitCode = EXIT.error;
      },
    );
}
