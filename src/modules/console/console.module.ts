import { Module } from '@nestjs/common';
import { ConsolePages } from './console-pages.js';

/** The console: what people see of the service, which knows no more of it than its API tells. */
@Module({ providers: [ConsolePages] })
export class ConsoleModule {}
