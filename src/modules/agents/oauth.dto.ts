import { ApiProperty } from '@nestjs/swagger';

/** The metadata of the protected resource (RFC 9728, section 2). */
export class ProtectedResourceItem {
  /** What tokens are for. */
  @ApiProperty({ example: 'https://hooks.example.com/mcp' })
  resource: string;

  /** Who issues them. */
  @ApiProperty({ type: [String], example: ['https://hooks.example.com'] })
  authorization_servers: string[];

  /** The scopes that an agent may ask for. */
  @ApiProperty({ type: [String], example: ['read'] })
  scopes_supported: string[];

  /** How a token is sent. */
  @ApiProperty({ type: [String], example: ['header'] })
  bearer_methods_supported: string[];

  /** What people know it by. */
  @ApiProperty({ example: 'Posthorn' })
  resource_name: string;

  /** Where it is described. */
  @ApiProperty({ example: 'https://hooks.example.com/docs' })
  resource_documentation: string;
}

/** The metadata of the authorization server (RFC 8414, section 2). */
export class AuthorizationServerItem {
  /** Who it is: `iss` in every answer of a person's browser. */
  @ApiProperty({ example: 'https://hooks.example.com' })
  issuer: string;

  /** Where a person's browser is sent. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/authorize' })
  authorization_endpoint: string;

  /** Where codes are exchanged. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/token' })
  token_endpoint: string;

  /** Where clients register. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/register' })
  registration_endpoint: string;

  /** Where devices ask for their codes. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device' })
  device_authorization_endpoint: string;

  /** Where tokens are given back. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/revoke' })
  revocation_endpoint: string;

  /** What `response_type` may be. */
  @ApiProperty({ type: [String], example: ['code'] })
  response_types_supported: string[];

  /** Where in the redirect the answer stands. */
  @ApiProperty({ type: [String], example: ['query'] })
  response_modes_supported: string[];

  /** What `grant_type` may be. */
  @ApiProperty({ type: [String], example: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] })
  grant_types_supported: string[];

  /** Clients are public: they have no secret. */
  @ApiProperty({ type: [String], example: ['none'] })
  token_endpoint_auth_methods_supported: string[];

  /** The same for revocation. */
  @ApiProperty({ type: [String], example: ['none'] })
  revocation_endpoint_auth_methods_supported: string[];

  /** PKCE is asked for, with SHA-256. */
  @ApiProperty({ type: [String], example: ['S256'] })
  code_challenge_methods_supported: string[];

  /** What a client may ask for. */
  @ApiProperty({ type: [String], example: ['read'] })
  scopes_supported: string[];

  /** `iss` is in every answer (RFC 9207). */
  @ApiProperty({ example: true })
  authorization_response_iss_parameter_supported: boolean;

  /** A `client_id` may be the URL of the client's metadata. */
  @ApiProperty({ example: true })
  client_id_metadata_document_supported: boolean;

  /** Where all of this is described. */
  @ApiProperty({ example: 'https://hooks.example.com/docs' })
  service_documentation: string;
}

/** A registered client (RFC 7591, section 3.2.1). */
export class RegisteredClientItem {
  /** The client's id. */
  @ApiProperty({ example: 'k3W6pQ0bT2mXcR9sY7vZ1A' })
  client_id: string;

  /** When it was registered, in seconds since the epoch. */
  @ApiProperty({ type: 'integer', example: 1_795_334_400 })
  client_id_issued_at: number;

  /** What it calls itself. */
  @ApiProperty({ example: 'An assistant' })
  client_name: string;

  /** Where it may be answered. */
  @ApiProperty({ type: [String], example: ['http://127.0.0.1:3456/callback'] })
  redirect_uris: string[];

  /** How it may ask. */
  @ApiProperty({ type: [String], example: ['authorization_code'] })
  grant_types: string[];

  /** What it is answered. */
  @ApiProperty({ type: [String], example: ['code'] })
  response_types: string[];

  /** It has no secret. */
  @ApiProperty({ example: 'none' })
  token_endpoint_auth_method: string;

  /** The scope of the keys that it gets, whatever it asks for. */
  @ApiProperty({ example: 'read' })
  scope: string;
}

/** A token, which is an ordinary API key (RFC 6749, section 5.1). */
export class TokenItem {
  /** The key, shown in this answer only. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  access_token: string;

  /** How it is sent. */
  @ApiProperty({ example: 'Bearer' })
  token_type: string;

  /** For how long it is good, in seconds. There is no refresh token: the person is asked again. */
  @ApiProperty({ type: 'integer', example: 2_592_000 })
  expires_in: number;

  /** What it may do. */
  @ApiProperty({ example: 'read' })
  scope: string;
}

/** What a device is told (RFC 8628, section 3.2). */
export class DeviceCodesItem {
  /** The device's own code, to ask with at `/oauth/token`. */
  @ApiProperty({ example: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o' })
  device_code: string;

  /** The code for its person. */
  @ApiProperty({ example: 'WDJB-MJHT' })
  user_code: string;

  /** Where the person types it. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device' })
  verification_uri: string;

  /** The same with the code filled in, to be compared and confirmed. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device?user_code=WDJB-MJHT' })
  verification_uri_complete: string;

  /** For how long both count, in seconds. */
  @ApiProperty({ type: 'integer', example: 600 })
  expires_in: number;

  /** How long to wait between two requests, in seconds. */
  @ApiProperty({ type: 'integer', example: 5 })
  interval: number;
}
