import { Module } from '@nestjs/common';
import { HttpsAdapter } from './https.js';
import { MirrorAdapter } from './mirror.js';
import { OwnHost } from './own-host.js';
import { Probe } from './probe.js';
import { PullAdapter } from './pull.js';
import { SqsAdapter } from './sqs.js';
import { Queues } from './sqs/queues.js';

/** Registers the built-in destination types with the decorator that extensions use for their types. */
@Module({ providers: [HttpsAdapter, MirrorAdapter, OwnHost, Probe, PullAdapter, Queues, SqsAdapter] })
export class AdaptersModule {}
