/** Credentials for AWS or a server with a compatible API. Secret. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Only temporary credentials have a session token. */
  sessionToken?: string;
}
