import { Controller, HttpCode, type OnModuleInit, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDeeperThan } from '#engine/json-schema/json-faults.js';
import { Scope } from '#http/access.js';
import { AccessRules } from '#http/access-rules.js';
import { Audit } from '#http/audit.js';
import { BodyLimit } from '#http/body-limit.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { JSON_TYPE } from '#http/envelope.js';
import { hasMoreMembers } from '#http/json-members.js';
import { Section } from '#http/openapi-sections.js';
import { Config } from '#kernel/config/config.js';
import { badRequest, methodNotAllowed } from '#kernel/errors.js';
import { AgentGate } from './agent-gate.js';
import { MCP_PATHS } from './challenge.js';
import { McpServer } from './mcp-server.js';
import { ToolBox } from './tool-box.js';

const BODY_BYTES_MAX = 1_048_576;
/**
 * Maximum nesting depth of a request. The MCP package parses requests recursively, and its stack is large enough for
 * this depth. Payloads are nested much less.
 */
const BODY_LEVELS_MAX = 500;
/** Maximum number of strings, objects and lists of a request. The MCP package takes long for many fields. */
const MEMBERS_MAX = 20_000;

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search_events', arguments: { status: 'dlq', limit: 5 } },
};

/** Serves the MCP endpoint for agents. */
@Section(
  'Agents',
  'The Model Context Protocol endpoint, and the sign-in of agents: OAuth 2 with PKCE, whose token is an ordinary API key. Errors of `/oauth` have the format of RFC 6749.',
)
@Controller()
export class McpController implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly gate: AgentGate,
    private readonly server: McpServer,
    private readonly tools: ToolBox,
    private readonly rules: AccessRules,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
  ) {}

  /**
   * Adds the MCP routes that Nest does not declare. OPTIONS answers preflight requests. Other methods than POST get an
   * error, because streams and sessions are not supported. POST is also accepted with a trailing slash.
   */
  onModuleInit(): void {
    if (!this.config.isApi) return;
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    const config = { access: 'public' } as const;
    for (const url of MCP_PATHS) {
      fastify.route({
        method: ['GET', 'DELETE', 'PUT', 'PATCH'],
        url,
        config,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          await this.filter.answer(
            methodNotAllowed('This MCP endpoint accepts only POST requests with one message each.', [
              'POST',
              'OPTIONS',
            ]),
            request,
            reply,
          );
          return reply;
        },
      });
      fastify.route({
        method: 'OPTIONS',
        url,
        config,
        handler: (request, reply) => {
          reply
            .headers(this.gate.corsHeaders(request))
            .header('access-control-allow-methods', 'GET, POST, DELETE')
            .header('access-control-max-age', 600)
            .header(
              'access-control-allow-headers',
              'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name',
            )
            .code(204)
            .send();
        },
      });
    }
    // Added directly to Fastify, because Nest would drop the trailing slash. Nest's guards do not run here. The
    // authentication hook runs before every route, and checks the key according to `config`.
    fastify.route({
      method: 'POST',
      url: '/mcp/',
      config: { access: 'read' },
      bodyLimit: BODY_BYTES_MAX,
      handler: async (request, reply) => {
        await this.callAgentServer(request, reply);
        return reply;
      },
    });
  }

  @Post('mcp')
  @HttpCode(200)
  @Scope('read')
  // The API requests that a tool makes are audited, so the MCP call itself is not.
  @Audit('never')
  @BodyLimit(BODY_BYTES_MAX)
  @ApiOperation({
    summary: 'Call the MCP server',
    description:
      'Serves the Model Context Protocol over streamable HTTP, without sessions: one JSON-RPC message per request. The available tools depend on the scope of the key. Each call and each request that a tool makes count against the quota of the key. A 401 response contains the URL of the sign-in metadata in the header `WWW-Authenticate`.',
  })
  @ApiHeader({
    name: 'MCP-Protocol-Version',
    required: false,
    description: 'Revision of the Model Context Protocol.',
    example: '2026-07-28',
  })
  @ApiBody({
    description: 'A JSON-RPC message.',
    schema: { type: 'object', additionalProperties: true },
    examples: { search: { summary: 'Search for dead letters', value: CALL } },
  })
  @ApiOkResponse({
    description: 'The response to the message.',
    schema: {
      type: 'object',
      additionalProperties: true,
      example: {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: '{"data":[]}' }], structuredContent: { data: [] } },
      },
    },
  })
  async callAgentServer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.gate.admit(request);
    if (isDeeperThan(request.body, BODY_LEVELS_MAX))
      throw badRequest(`The message is nested too deeply: at most ${BODY_LEVELS_MAX} levels are allowed.`);
    if (request.rawBody !== null && hasMoreMembers(request.rawBody, MEMBERS_MAX))
      throw badRequest(
        `The message has too many fields: at most ${MEMBERS_MAX} strings, objects and lists are allowed.`,
      );
    reply.headers(this.gate.corsHeaders(request));
    const tool = this.tools.find(calledTool(request.body));
    const refused = tool && this.rules.refusal(tool.kind, request);
    if (refused) throw refused;
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const answer = await this.server.answer(request, gone.signal);
    reply.code(answer.status);
    answer.headers.forEach((value, name) => void reply.header(name, value));
    if (answer.headers.get('content-type') === 'application/json') reply.header('content-type', JSON_TYPE);
    reply.header('cache-control', 'no-store').send(Buffer.from(await answer.arrayBuffer()));
  }
}

/** Returns the name of the tool that a message calls, or an empty string for other messages. */
function calledTool(body: unknown): string {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === 'tools/call' && typeof params?.name === 'string' ? params.name : '';
}
