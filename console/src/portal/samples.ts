/** Code sample that verifies a delivery in one language, with its Standard Webhooks library. */
export interface Sample {
  name: string;
  /** Command that installs the library. */
  install: string;
  code: string;
}

/** Samples never contain the secret. They read it from the receiver's environment. */
export const SAMPLES: readonly Sample[] = [
  {
    name: 'JavaScript',
    install: 'npm install standardwebhooks',
    code: `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// The body as it arrived, before anything parses it. Throws when the signature is wrong.
const payload = webhook.verify(rawBody, request.headers);`,
  },
  {
    name: 'Python',
    install: 'pip install standardwebhooks',
    code: `import os
from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# The body as it arrived, before anything parses it. Raises when the signature is wrong.
payload = webhook.verify(raw_body, request.headers)`,
  },
  {
    name: 'Go',
    install: 'go get github.com/standard-webhooks/standard-webhooks/libraries/go',
    code: `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
if err != nil { return err }
// The body as it arrived. An error means that the signature is wrong.
err = webhook.Verify(rawBody, request.Header)`,
  },
  {
    name: 'Ruby',
    install: 'gem install standardwebhooks',
    code: `require "standardwebhooks"

webhook = StandardWebhooks::Webhook.new(ENV["WEBHOOK_SECRET"])
# The body as it arrived, before anything parses it. Raises when the signature is wrong.
payload = webhook.verify(raw_body, headers)`,
  },
  {
    name: 'PHP',
    install: 'composer require standard-webhooks/standard-webhooks',
    code: `$webhook = new \\StandardWebhooks\\Webhook(getenv('WEBHOOK_SECRET'));
// The body as it arrived. Throws when the signature is wrong.
$payload = $webhook->verify(file_get_contents('php://input'), getallheaders());`,
  },
  {
    name: 'Java',
    install: 'implementation "com.standardwebhooks:standardwebhooks:1.+"',
    code: `import com.standardwebhooks.Webhook;

Webhook webhook = new Webhook(System.getenv("WEBHOOK_SECRET"));
// The body as it arrived. Throws when the signature is wrong.
webhook.verify(rawBody, headers);`,
  },
];
