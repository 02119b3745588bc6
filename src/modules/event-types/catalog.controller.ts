import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '#http/access.js';
import { Catalog } from './catalog.js';
import { CATALOG_POLICY } from './catalog-page.js';

/**
 * Headers of the catalog pages. The pages have the same origin as Swagger UI, which stores API keys. Scripts from
 * tenant content must therefore not run on them.
 */
const HEADERS: readonly [string, string][] = [
  ['content-type', 'text/html; charset=utf-8'],
  ['cache-control', 'public, max-age=60'],
  ['content-security-policy', CATALOG_POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
];

const AsPage = (): MethodDecorator => (target, name, descriptor) => {
  for (const [header, value] of HEADERS) Header(header, value)(target, name, descriptor);
};

/** HTML pages of the public event type catalog. Not part of the API. */
@ApiExcludeController()
@Controller('catalog')
export class CatalogController {
  constructor(private readonly catalog: Catalog) {}

  @Get(':slug')
  @Public()
  @AsPage()
  async showCatalog(@Param('slug') slug: string): Promise<string> {
    return this.catalog.page(slug, 'live');
  }

  @Get(':slug/test')
  @Public()
  @AsPage()
  async showTestCatalog(@Param('slug') slug: string): Promise<string> {
    return this.catalog.page(slug, 'test');
  }
}
