import { Module } from '@nestjs/common';
import { HttpsAdapter } from './https.js';
import { MirrorAdapter } from './mirror.js';
import { OwnHost } from './own-host.js';
import { Probe } from './probe.js';
import { PullAdapter } from './pull.js';

/** The built-in destination types, registered as an extension registers its own. */
@Module({ providers: [HttpsAdapter, MirrorAdapter, OwnHost, Probe, PullAdapter] })
export class AdaptersModule {}
