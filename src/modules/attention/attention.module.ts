import { Module } from '@nestjs/common';
import { AttentionController } from './attention.controller.js';
import { AttentionList } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { AttentionTools } from './attention.tools.js';

/** What is broken now, in one call: it reads what other contexts store, and keeps nothing. */
@Module({
  controllers: [AttentionController],
  providers: [AttentionList, AttentionStore, AttentionTools],
})
export class AttentionModule {}
