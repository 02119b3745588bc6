import { Body, Controller, HttpCode, type OnModuleInit, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BodyLimit } from '#http/body-limit.js';
import { type FormFields, TakesForm } from '#http/form-parser.js';
import { AnswersOAuth, ANY_ORIGIN, oauthError } from '#http/oauth-answers.js';
import { TryNeeds } from '#http/openapi-sections.js';
import { RateLimit, RouteQuotas } from '#http/rate-limit.js';
import type { AuditOrigin } from '#kernel/audit.js';
import { Config } from '#kernel/config/config.js';
import { Authorization, type IssuedToken } from './authorization.js';
import { CLIENT_GRANTS, DEVICE_GRANT, GRANTED_SCOPE } from './client-metadata.js';
import { DEVICE_SECONDS, DeviceGrants, POLL_SECONDS } from './device-grants.js';
import { DeviceCodesItem, RegisteredClientItem, TokenItem } from './oauth.dto.js';
import { OAuthClients } from './oauth-clients.js';
import { METADATA_PATHS } from './oauth-metadata.controller.js';

const REGISTRATION_BYTES_MAX = 8_192;
const FORM = 'application/x-www-form-urlencoded';
/** What pages of any origin may call, and ask about first. */
const OPEN_PATHS = [
  '/oauth/register',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/device',
  ...METADATA_PATHS,
  ...METADATA_PATHS.map((path) => `${path}/*`),
];

const text = (description: string, example: string): Record<string, unknown> => ({
  type: 'string',
  description,
  example,
});
const formOf = (properties: Record<string, unknown>, required: string[]): Parameters<typeof ApiBody>[0] => ({
  required: true,
  schema: { type: 'object', required, properties } as never,
  description: `As ${FORM}.`,
});
const CLIENT = text('The client.', 'k3W6pQ0bT2mXcR9sY7vZ1A');

/** What clients of OAuth call (RFC 6749, 7591, 7009 and 8628). */
@ApiTags('Agents')
@ApiBadRequestResponse({ description: 'What is wrong, in the form of RFC 6749.' })
@Controller('oauth')
export class OAuthController implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly clients: OAuthClients,
    private readonly authorization: Authorization,
    private readonly devices: DeviceGrants,
    private readonly quotas: RouteQuotas,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (!this.config.isApi) return;
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    for (const url of OPEN_PATHS) {
      fastify.route({
        method: 'OPTIONS',
        url,
        config: { access: 'public' },
        handler: (_request, reply) => {
          reply
            .code(204)
            .headers(ANY_ORIGIN)
            .header('access-control-allow-methods', 'GET, POST, OPTIONS')
            .header('access-control-allow-headers', 'content-type, mcp-protocol-version')
            .header('access-control-max-age', 600)
            .send();
        },
      });
    }
  }

  @Post('register')
  @HttpCode(201)
  @AnswersOAuth()
  @BodyLimit(REGISTRATION_BYTES_MAX)
  @ApiOperation({
    summary: 'Register a client',
    description:
      'RFC 7591, for public clients: no secret is issued. Ten an hour from one network (RATE_LIMIT_REGISTRATION), refused ones not counted; a client that nobody approves is deleted after a day. `redirect_uris` are https, http on the own computer, or a private scheme of OAUTH_REDIRECT_SCHEMES. A client that will use the device grant says so in `grant_types`, and needs no `redirect_uris` if it uses nothing else.',
  })
  @ApiBody({
    description: 'The client; what is not known is ignored.',
    examples: {
      native: {
        summary: 'A program on a computer',
        value: { client_name: 'An assistant', redirect_uris: ['http://127.0.0.1:3456/callback'] },
      },
    },
    schema: {
      type: 'object',
      additionalProperties: true,
      properties: {
        redirect_uris: {
          type: 'array',
          items: { type: 'string' },
          description: 'Where it may be answered: 1 to 10.',
          example: ['http://127.0.0.1:3456/callback'],
        },
        grant_types: {
          type: 'array',
          items: { type: 'string' },
          description: `How it will ask: ${CLIENT_GRANTS.map((grant) => `\`${grant}\``).join(', ')}, or both. The first when left out.`,
          example: ['authorization_code'],
        },
        client_name: text('What people are shown, and told that nobody verified.', 'An assistant'),
      },
    },
  })
  @ApiCreatedResponse({ type: RegisteredClientItem, description: 'The client.' })
  async registerClient(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RegisteredClientItem> {
    const { rateLimitRegistration: limit } = this.config;
    const client = await this.clients.register(request.body, request.ip, async () => {
      if (limit !== null)
        await this.quotas.count(
          { name: 'register', count: limit.count, seconds: limit.periodMs / 1000 },
          request,
          reply,
        );
    });
    return {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: client.grantTypes,
      response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
      token_endpoint_auth_method: 'none',
      scope: GRANTED_SCOPE,
    };
  }

  @Post('token')
  @HttpCode(200)
  @AnswersOAuth()
  @TakesForm()
  @ApiConsumes(FORM)
  @ApiUnauthorizedResponse({ description: 'No such client, or one that says that it has a secret.' })
  @RateLimit({ name: 'token', count: 120, seconds: 60 })
  @ApiOperation({
    summary: 'Exchange a code for a key',
    description:
      'RFC 6749 with PKCE, and RFC 8628 for devices. The key is an ordinary API key: it is listed in `GET /v1/keys` with `source` `oauth`, and revoked there. A code counts once and for 60 s; used again, it revokes the key that came of it. There are no refresh tokens.',
  })
  @ApiBody(
    formOf(
      {
        grant_type: text(`\`authorization_code\`, or \`${DEVICE_GRANT}\`.`, 'authorization_code'),
        code: text('The code.', 'Vb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR'),
        redirect_uri: text('The same as it was asked with.', 'http://127.0.0.1:3456/callback'),
        client_id: CLIENT,
        code_verifier: text(
          'What the code_challenge was made of (RFC 7636).',
          'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
        ),
        resource: text('What the key is for (RFC 8707); may be left out.', 'https://hooks.example.com/mcp'),
        device_code: text('Instead of the code, from a device.', 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o'),
      },
      ['grant_type', 'client_id'],
    ),
  )
  @ApiOkResponse({ type: TokenItem, description: 'The key.' })
  @TryNeeds('a code that a member approved')
  async exchangeToken(@Req() request: FastifyRequest, @Body() body: object): Promise<TokenItem> {
    const form = formIn(request, body);
    const { grant_type: grant } = form;
    if (grant === 'authorization_code') return presentToken(await this.authorization.exchange(form, originOf(request)));
    if (grant === DEVICE_GRANT) return presentToken(await this.devices.poll(form));
    throw grant === undefined
      ? oauthError('invalid_request', 'The grant_type is missing.')
      : oauthError('unsupported_grant_type', `The grant_type must be authorization_code or ${DEVICE_GRANT}.`);
  }

  @Post('revoke')
  @HttpCode(200)
  @AnswersOAuth()
  @TakesForm()
  @ApiConsumes(FORM)
  @ApiUnauthorizedResponse({ description: 'No such client, or one that says that it has a secret.' })
  @RateLimit({ name: 'token', count: 120, seconds: 60 })
  @ApiOperation({
    summary: 'Give a key back',
    description: 'RFC 7009: 200 whether or not there is such a key. Only keys from grants are revoked here.',
  })
  @ApiBody(
    formOf(
      {
        token: text('The key.', 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR'),
        token_type_hint: text('Ignored.', 'access_token'),
        client_id: CLIENT,
      },
      ['token'],
    ),
  )
  @ApiOkResponse({ description: 'It is good for nothing any more.' })
  async revokeToken(@Req() request: FastifyRequest, @Body() body: object): Promise<void> {
    const { token, client_id: clientId } = formIn(request, body);
    if (!token) throw oauthError('invalid_request', 'The token is missing.');
    await this.authorization.giveBack(token, clientId ?? null, originOf(request));
  }

  @Post('device')
  @HttpCode(200)
  @AnswersOAuth()
  @TakesForm()
  @ApiConsumes(FORM)
  @ApiUnauthorizedResponse({ description: 'No such client, or one that says that it has a secret.' })
  @RateLimit({ name: 'device-start', count: 20, seconds: 300 })
  @ApiOperation({
    summary: 'Ask for a code for a device',
    description:
      'RFC 8628: the program shows `user_code`, and asks at `/oauth/token` until somebody has typed it. A client must have registered for this grant, or the answer is `unauthorized_client`. The page offers the person the scopes up to their own role, with the `scope` that was asked for selected. `device_name` becomes part of the name of the key. The command line is the client `posthorn-cli`.',
  })
  @ApiBody(
    formOf(
      {
        client_id: text('The client.', 'posthorn-cli'),
        scope: text(
          'What the key should be able to do: the person sees it selected, and may choose another one.',
          'write',
        ),
        device_name: text(
          'The machine that the program runs on: the person sees it, and the list of keys shows it.',
          'ada-laptop',
        ),
      },
      ['client_id'],
    ),
  )
  @ApiOkResponse({ type: DeviceCodesItem, description: 'The codes.' })
  async authorizeDevice(@Req() request: FastifyRequest, @Body() body: object): Promise<DeviceCodesItem> {
    const form = formIn(request, body);
    const client = await this.clients.find(form['client_id']);
    if (typeof client === 'string') throw oauthError('invalid_client', client);
    // RFC 7591, section 2: what is not in grant_types is not the client's to use.
    if (!client.grantTypes.includes(DEVICE_GRANT))
      throw oauthError(
        'unauthorized_client',
        `This client did not register for the device grant: its grant_types must have ${DEVICE_GRANT}.`,
      );
    const { deviceCode, userCode } = await this.devices.begin({
      client,
      address: request.ip,
      scope: form['scope'],
      deviceName: form['device_name'],
    });
    const page = `${this.config.baseUrl}/oauth/device`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_SECONDS,
      interval: POLL_SECONDS,
    };
  }
}

/** Forms only, and no secret: clients here have none. */
function formIn({ headers }: FastifyRequest, body: object | undefined): FormFields {
  if (!(headers['content-type'] ?? '').toLowerCase().startsWith(FORM))
    throw oauthError('invalid_request', `Send the body as ${FORM}.`);
  if (/^basic\b/i.test(headers.authorization ?? ''))
    throw oauthError(
      'invalid_client',
      'Clients here have no secret: send client_id in the body, and no secret in the Authorization header.',
    );
  const form = (body ?? {}) as FormFields;
  if (form['client_secret'] !== undefined) throw oauthError('invalid_client', 'Clients here have no secret.');
  return form;
}

function originOf({ ip, headers, id }: FastifyRequest): AuditOrigin {
  return { ip, userAgent: headers['user-agent'], requestId: id };
}

function presentToken({ text: token, lifetimeSeconds, scope }: IssuedToken): TokenItem {
  return { access_token: token, token_type: 'Bearer', expires_in: lifetimeSeconds, scope };
}
