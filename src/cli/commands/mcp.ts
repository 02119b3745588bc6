import { once } from 'node:events';
import type { Command } from 'commander';
import { writeExact } from '../../engine/exact-json.js';
import { AgentServer } from '../agent-server.js';
import { CommandFailure, EXIT } from '../failure.js';
import type { Globals } from '../globals.js';
import { accessOf } from '../sessions.js';

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('run an MCP server over standard input and output, with the tools of /mcp')
    .option('--scope <scope>', 'maximum permission of the tools: read or write', 'read')
    .addHelpText(
      'after',
      `
An agent starts this command. It connects to the service with the key of \`posthorn login\`, or with POSTHORN_API_KEY, so the agent's
configuration contains no key. With --scope read (the default) it offers only read-only tools, whatever the key permits.

Claude Code:
  claude mcp add posthorn -- posthorn mcp

Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json), Windsurf (mcp_config.json), Gemini CLI (.gemini/settings.json):
  { "mcpServers": { "posthorn": { "command": "posthorn", "args": ["mcp"] } } }

VS Code (.vscode/mcp.json):
  { "servers": { "posthorn": { "type": "stdio", "command": "posthorn", "args": ["mcp"] } } }

Codex (~/.codex/config.toml):
  [mcp_servers.posthorn]
  command = "posthorn"
  args = ["mcp"]

Another service, with tools that send and replay:
  "args": ["mcp", "--scope", "write", "--url", "https://posthorn.example.com"]`,
    )
    .action(async ({ scope }: { scope: string }, command: Command) => {
      if (scope !== 'read' && scope !== 'write') throw new CommandFailure('--scope must be read or write.', EXIT.usage);
      const globals = command.optsWithGlobals<Globals>();
      const { url, apiKey } = accessOf(globals);
      if (apiKey === null)
        throw new CommandFailure(
          `You are not signed in at ${url}. Run \`posthorn login\`, or set POSTHORN_API_KEY.`,
          EXIT.unauthenticated,
        );
      const complain = (line: string): void => void process.stderr.write(`${line}\n`);
      const write = async (message: unknown): Promise<void> => {
        if (!process.stdout.write(`${writeExact(message)}\n`)) await once(process.stdout, 'drain');
      };
      // Keeps the service chosen at the start: a later login at another service does not redirect the agent.
      const access = (): ReturnType<typeof accessOf> => accessOf({ url });
      await new AgentServer({ access, fetch: (request) => fetch(request), write, complain }, scope).run(process.stdin);
    });
}
