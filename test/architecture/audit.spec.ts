import { filesBelow, textOf } from './source-tree.js';

const CHANGES = /^ {2}@(?:Post|Put|Patch|Delete)\(/;
const HANDLER = /^ {2}(?:async )?\w+\(/;

/** Returns the decorators of each route handler that can change data. */
function changingRoutes(file: string): string[] {
  const blocks = textOf(file).split(/\n\n/);
  return blocks.flatMap((block) => {
    const lines = block.split('\n');
    const end = lines.findIndex((line) => HANDLER.test(line));
    const decorators = lines.slice(0, end);
    return end >= 0 && decorators.some((line) => CHANGES.test(line)) ? [`${file}\n${decorators.join('\n')}`] : [];
  });
}

it("each of Posthorn's routes that needs a key and may change data declares its audit, unless it is traffic", () => {
  const routes = filesBelow('src')
    .filter((file) => file.endsWith('.controller.ts'))
    .flatMap(changingRoutes)
    .filter((text) => /@(?:Scope|OperatorOnly)\(/.test(text) && !text.includes("@Idempotent('accept')"));

  expect(routes.length).toBeGreaterThan(60);
  expect(routes.filter((text) => !text.includes('@Audit('))).toEqual([]);
});
