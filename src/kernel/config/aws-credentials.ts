/** Credentials for AWS or a server with a compatible API. Secret. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Only for temporary credentials. */
  sessionToken?: string;
}
