/** How the service signs in with AWS, or with a server that speaks its protocols. Secret. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials. */
  sessionToken?: string;
}
