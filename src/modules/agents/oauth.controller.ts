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
import { RouteQuotas } from '#http/rate-limit.interceptor.js';
import { RateLimit } from '#http/rate-limit.js';
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
/** Paths that pages of any origin may call, and that therefore answer preflight requests. */
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
  description: `The parameters, as ${FORM}.`,
});
const CLIENT = text('Id of the client.', 'k3W6pQ0bT2mXcR9sY7vZ1A');

/** OAuth endpoints for clients (RFC 6749, 7591, 7009 and 8628). */
@ApiTags('Agents')
@ApiBadRequestResponse({ description: 'The error in the format of RFC 6749.' })
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
      'Registers a public client (RFC 7591), which gets no secret. One network can register ten clients per hour (RATE_LIMIT_REGISTRATION). Rejected requests are not counted. A client that no user approves is deleted after a day. `redirect_uris` must use https, http on the local computer, or a private scheme of OAUTH_REDIRECT_SCHEMES. A client that uses the device grant must list it in `grant_types`. A client that uses only the device grant needs no `redirect_uris`.',
  })
  @ApiBody({
    description: 'The metadata of the client. Unknown fields are ignored.',
    examples: {
      native: {
        summary: "A program on the user's computer",
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
          description: 'Redirect URIs of the client: 1 to 10.',
          example: ['http://127.0.0.1:3456/callback'],
        },
        grant_types: {
          type: 'array',
          items: { type: 'string' },
          description: `Grant types that the client will use: ${CLIENT_GRANTS.map((grant) => `\`${grant}\``).join(', ')}, or both. Defaults to \`authorization_code\`.`,
          example: ['authorization_code'],
        },
        client_name: text('Name shown to users, who are warned that it is not verified.', 'An assistant'),
      },
    },
  })
  @ApiCreatedResponse({ type: RegisteredClientItem, description: 'The registered client.' })
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
  @ApiUnauthorizedResponse({ description: 'The client does not exist, or the request contains a client secret.' })
  @RateLimit({ name: 'token', count: 120, seconds: 60 })
  @ApiOperation({
    summary: 'Exchange a code for a key',
    description:
      'Issues an API key according to RFC 6749 with PKCE, or RFC 8628 for devices. `GET /v1/keys` lists the key with `source` `oauth`, and `DELETE /v1/keys/{id}` revokes it. A code can be used once, within 60 seconds. A second use revokes the key that the first use returned. There are no refresh tokens.',
  })
  @ApiBody(
    formOf(
      {
        grant_type: text(`\`authorization_code\`, or \`${DEVICE_GRANT}\`.`, 'authorization_code'),
        code: text('The authorization code.', 'Vb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR'),
        redirect_uri: text('The same value as in the authorization request.', 'http://127.0.0.1:3456/callback'),
        client_id: CLIENT,
        code_verifier: text(
          'The verifier from which code_challenge was computed (RFC 7636).',
          'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
        ),
        resource: text('Resource that the key is for (RFC 8707). Optional.', 'https://hooks.example.com/mcp'),
        device_code: text(
          'The device code, for the device grant. It replaces `code`.',
          'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o',
        ),
      },
      ['grant_type', 'client_id'],
    ),
  )
  @ApiOkResponse({ type: TokenItem, description: 'The access token.' })
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
  @ApiUnauthorizedResponse({ description: 'The client does not exist, or the request contains a client secret.' })
  @RateLimit({ name: 'token', count: 120, seconds: 60 })
  @ApiOperation({
    summary: 'Revoke a key of an OAuth grant',
    description:
      'Revokes a key (RFC 7009). Returns 200 whether or not the key exists. Only keys from OAuth grants can be revoked here.',
  })
  @ApiBody(
    formOf(
      {
        token: text('The key.', 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR'),
        token_type_hint: text('Ignored hint about the type of the token.', 'access_token'),
        client_id: CLIENT,
      },
      ['token'],
    ),
  )
  @ApiOkResponse({ description: 'The token is no longer valid.' })
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
  @ApiUnauthorizedResponse({ description: 'The client does not exist, or the request contains a client secret.' })
  @RateLimit({ name: 'device-start', count: 20, seconds: 300 })
  @ApiOperation({
    summary: 'Request a code for a device',
    description:
      'Starts the device grant (RFC 8628). The program shows `user_code`, and polls `/oauth/token` until the user has entered the code. The client must have registered for this grant, otherwise the error is `unauthorized_client`. The user chooses a scope up to their own role, and the requested `scope` is preselected. `device_name` becomes part of the name of the key. The command line tool is the client `posthorn-cli`.',
  })
  @ApiBody(
    formOf(
      {
        client_id: text('Id of the client.', 'posthorn-cli'),
        scope: text('Requested scope of the key. It is preselected for the user, who may choose another one.', 'write'),
        device_name: text(
          'Name of the machine on which the program runs. It is shown to the user and in the list of keys.',
          'ada-laptop',
        ),
      },
      ['client_id'],
    ),
  )
  @ApiOkResponse({ type: DeviceCodesItem, description: 'The device code and the user code.' })
  async authorizeDevice(@Req() request: FastifyRequest, @Body() body: object): Promise<DeviceCodesItem> {
    const form = formIn(request, body);
    const client = await this.clients.find(form['client_id']);
    if (typeof client === 'string') throw oauthError('invalid_client', client);
    // RFC 7591, section 2: a client may use only the grants in its grant_types.
    if (!client.grantTypes.includes(DEVICE_GRANT))
      throw oauthError(
        'unauthorized_client',
        `This client did not register for the device grant: its grant_types must contain ${DEVICE_GRANT}.`,
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

/** Returns the fields of a form body. Rejects other bodies, and a client secret, because clients are public. */
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
