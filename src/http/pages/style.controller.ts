import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access.js';
import { STYLE } from './style.js';

/** Serves the style sheet of the HTML pages. Not part of the API. */
@ApiExcludeController()
@Controller('pages')
export class PageStyleController {
  @Get('style.css')
  @Public()
  @Header('content-type', 'text/css; charset=utf-8')
  @Header('cache-control', 'public, max-age=300')
  @Header('x-content-type-options', 'nosniff')
  pageStyle(): string {
    return STYLE;
  }
}
