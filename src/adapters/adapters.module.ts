import { Module } from '@nestjs/common';
import { HttpsAdapter } from './https.js';
import { PullAdapter } from './pull.js';

/** The built-in destination types, registered as an extension registers its own. */
@Module({ providers: [HttpsAdapter, PullAdapter] })
export class AdaptersModule {}
