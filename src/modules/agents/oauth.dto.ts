import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsInt, IsString } from 'class-validator';

/** Metadata of the protected resource (RFC 9728, section 2). */
export class ProtectedResourceItem {
  /** Identifier of the protected resource that tokens are issued for. */
  @ApiProperty({ example: 'https://hooks.example.com/mcp' })
  @IsString()
  resource: string;

  /** Issuer identifiers of the authorization servers that issue tokens for the resource. */
  @ApiProperty({ example: ['https://hooks.example.com'] })
  @IsArray()
  @IsString({ each: true })
  authorization_servers: string[];

  /** Scopes that an agent may request. */
  @ApiProperty({ example: ['read'] })
  @IsArray()
  @IsString({ each: true })
  scopes_supported: string[];

  /** Methods by which a request may carry a token. */
  @ApiProperty({ example: ['header'] })
  @IsArray()
  @IsString({ each: true })
  bearer_methods_supported: string[];

  /** Display name of the resource. */
  @ApiProperty({ example: 'Posthorn' })
  @IsString()
  resource_name: string;

  /** URL of the documentation. */
  @ApiProperty({ example: 'https://hooks.example.com/docs' })
  @IsString()
  resource_documentation: string;
}

/** Metadata of the authorization server (RFC 8414, section 2). */
export class AuthorizationServerItem {
  /** Issuer identifier. Equals the `iss` parameter of every authorization response. */
  @ApiProperty({ example: 'https://hooks.example.com' })
  @IsString()
  issuer: string;

  /** URL of the authorization endpoint, to which a client sends the user's browser. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/authorize' })
  @IsString()
  authorization_endpoint: string;

  /** URL of the token endpoint, which exchanges codes for tokens. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/token' })
  @IsString()
  token_endpoint: string;

  /** URL of the client registration endpoint. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/register' })
  @IsString()
  registration_endpoint: string;

  /** URL at which devices request their codes. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device' })
  @IsString()
  device_authorization_endpoint: string;

  /** URL at which clients revoke tokens. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/revoke' })
  @IsString()
  revocation_endpoint: string;

  /** Supported values of `response_type`. */
  @ApiProperty({ example: ['code'] })
  @IsArray()
  @IsString({ each: true })
  response_types_supported: string[];

  /** Supported values of `response_mode`: the part of the redirect URI that carries the response. */
  @ApiProperty({ example: ['query'] })
  @IsArray()
  @IsString({ each: true })
  response_modes_supported: string[];

  /** Supported values of `grant_type`. */
  @ApiProperty({ example: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] })
  @IsArray()
  @IsString({ each: true })
  grant_types_supported: string[];

  /** Supported client authentication methods of the token endpoint. Clients are public and have no secret. */
  @ApiProperty({ example: ['none'] })
  @IsArray()
  @IsString({ each: true })
  token_endpoint_auth_methods_supported: string[];

  /** Supported client authentication methods of the revocation endpoint. */
  @ApiProperty({ example: ['none'] })
  @IsArray()
  @IsString({ each: true })
  revocation_endpoint_auth_methods_supported: string[];

  /** Supported PKCE methods. PKCE with SHA-256 is required. */
  @ApiProperty({ example: ['S256'] })
  @IsArray()
  @IsString({ each: true })
  code_challenge_methods_supported: string[];

  /** Scopes that a client may request. */
  @ApiProperty({ example: ['read'] })
  @IsArray()
  @IsString({ each: true })
  scopes_supported: string[];

  /** `true`: every authorization response contains `iss` (RFC 9207). */
  @ApiProperty({ example: true })
  @IsBoolean()
  authorization_response_iss_parameter_supported: boolean;

  /** `true`: a `client_id` may be the URL of the client's metadata document. */
  @ApiProperty({ example: true })
  @IsBoolean()
  client_id_metadata_document_supported: boolean;

  /** URL of the documentation. */
  @ApiProperty({ example: 'https://hooks.example.com/docs' })
  @IsString()
  service_documentation: string;
}

/** A registered client (RFC 7591, section 3.2.1). */
export class RegisteredClientItem {
  /** Id of the client. */
  @ApiProperty({ example: 'k3W6pQ0bT2mXcR9sY7vZ1A' })
  @IsString()
  client_id: string;

  /** Time of registration, in seconds since the epoch. */
  @ApiProperty({ example: 1_795_334_400 })
  @IsInt()
  client_id_issued_at: number;

  /** Name that the client gave itself. It is not verified. */
  @ApiProperty({ example: 'An assistant' })
  @IsString()
  client_name: string;

  /** Redirect URIs that the client may use. */
  @ApiProperty({ example: ['http://127.0.0.1:3456/callback'] })
  @IsArray()
  @IsString({ each: true })
  redirect_uris: string[];

  /** Grant types that the client may use. */
  @ApiProperty({ example: ['authorization_code'] })
  @IsArray()
  @IsString({ each: true })
  grant_types: string[];

  /** Response types that the client may use. */
  @ApiProperty({ example: ['code'] })
  @IsArray()
  @IsString({ each: true })
  response_types: string[];

  /** Client authentication method. Always `none`: clients have no secret. */
  @ApiProperty({ example: 'none' })
  @IsString()
  token_endpoint_auth_method: string;

  /** Scope of the keys that the client receives, regardless of the scope that it requests. */
  @ApiProperty({ example: 'read' })
  @IsString()
  scope: string;
}

/** An access token, which is an ordinary API key (RFC 6749, section 5.1). */
export class TokenItem {
  /** The API key. Returned only in this response. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  @IsString()
  access_token: string;

  /** Type of the token. Requests send the token as `Authorization: Bearer …`. */
  @ApiProperty({ example: 'Bearer' })
  @IsString()
  token_type: string;

  /** Lifetime of the token, in seconds. There is no refresh token: after this time, the user has to approve again. */
  @ApiProperty({ example: 2_592_000 })
  @IsInt()
  expires_in: number;

  /** Scope of the token. */
  @ApiProperty({ example: 'read' })
  @IsString()
  scope: string;
}

/** Response to a device authorization request (RFC 8628, section 3.2). */
export class DeviceCodesItem {
  /** Device code, with which the device polls `/oauth/token`. */
  @ApiProperty({ example: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS0o' })
  @IsString()
  device_code: string;

  /** Code that the user enters. */
  @ApiProperty({ example: 'WDJB-MJHT' })
  @IsString()
  user_code: string;

  /** URL of the page on which the user enters the code. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device' })
  @IsString()
  verification_uri: string;

  /** URL of the same page with the code filled in. The user compares and confirms the code. */
  @ApiProperty({ example: 'https://hooks.example.com/oauth/device?user_code=WDJB-MJHT' })
  @IsString()
  verification_uri_complete: string;

  /** Lifetime of both codes, in seconds. */
  @ApiProperty({ example: 600 })
  @IsInt()
  expires_in: number;

  /** Minimum time between two polls, in seconds. */
  @ApiProperty({ example: 5 })
  @IsInt()
  interval: number;
}
