import { Controller, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiBody, ApiNoContentResponse, ApiOperation, ApiUnauthorizedResponse } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#http/access.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { badRequest } from '#kernel/errors.js';
import { SesNotifications } from './ses-notifications.js';

const PATH = '/v1/providers/ses/notifications';

/** Makes the SES route parse `text/plain` as JSON, because SNS sends its JSON as text/plain. */
@Injectable()
export class SesContentType {
  constructor({ httpAdapter }: HttpAdapterHost) {
    // The hook must exist before Nest registers the routes. It is added to this route only, because other routes are
    // called for each event.
    httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.url === PATH) route.onRequest = [route.onRequest ?? [], parseTextAsJson].flat();
    });
  }
}

function parseTextAsJson({ raw: { headers } }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (/^text\/plain\b/i.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/json';
  done();
}

/** API that receives providers' notifications about emails. */
@Section(
  'Mail reports',
  'Unchanged reports of other mail servers and providers about sent emails. Includes reports that could not be matched to an email.',
)
@Controller('v1/providers/ses/notifications')
export class SesController {
  constructor(private readonly notifications: SesNotifications) {}

  @Post()
  @HttpCode(204)
  @Public({ uncounted: true })
  @ApiOperation({
    summary: 'Receive a notification of Amazon SES',
    description:
      'Amazon SNS calls this operation and authenticates with its signature. Subscribe a topic of `SES_TOPICS` to this URL, with raw message delivery switched off.',
  })
  @ApiBody({
    schema: {
      type: 'object',
      additionalProperties: true,
      properties: {
        Type: {
          type: 'string',
          description: 'Type of the SNS message: a notification, or the confirmation of a subscription.',
          example: 'Notification',
        },
        MessageId: {
          type: 'string',
          description: 'Id of the notification. A repeated notification has the same id.',
          example: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
        },
        TopicArn: {
          type: 'string',
          description: 'ARN of the topic, which must be in `SES_TOPICS`.',
          example: 'arn:aws:sns:eu-west-1:123456789012:mail',
        },
        Message: {
          type: 'string',
          description: 'The SES event, as JSON in a string.',
          example: '{"notificationType":"Bounce"}',
        },
        Timestamp: {
          type: 'string',
          description: 'Time when SNS sent the notification.',
          example: '2026-11-22T09:30:00.000Z',
        },
        SignatureVersion: { type: 'string', description: 'Version of the SNS signature.', example: '2' },
        SigningCertURL: {
          type: 'string',
          description: 'URL of the certificate that verifies the signature.',
          example: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem',
        },
        Signature: { type: 'string', description: 'The signature of SNS, in base64.', example: 'EXAMPLE' },
      },
    },
    examples: {
      bounce: {
        summary: 'A bounce',
        value: {
          Type: 'Notification',
          MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
          TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail',
          Message: '{"notificationType":"Bounce"}',
          Timestamp: '2026-11-22T09:30:00.000Z',
          SignatureVersion: '2',
          Signature: 'EXAMPLE',
          SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem',
        },
      },
    },
  })
  @ApiNoContentResponse({ description: 'The notification is stored, or the subscription is confirmed.' })
  @ApiUnauthorizedResponse({
    description: 'The notification is not signed by SNS for a topic of `SES_TOPICS`.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('`SES_TOPICS` in the settings, and a notification that Amazon SNS signed')
  async takeSesNotification(@Req() { rawBody }: FastifyRequest): Promise<void> {
    if (rawBody === null) throw badRequest('The body is missing.');
    await this.notifications.take(rawBody);
  }
}
