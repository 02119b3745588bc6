import { filesBelow, textOf } from '../architecture/source-tree.js';

interface Manifest {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier as string);

/** Returns the package of a specifier: `@scope/name` for `@scope/name/deep/file.js`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe.each(['examples/posthorn-nats', 'examples/posthorn-acme', 'examples/posthorn-depot'])(
  'the sample extension in %s',
  (folder) => {
    const manifest = JSON.parse(textOf(`${folder}/package.json`)) as Manifest;
    const sources = filesBelow(`${folder}/src`);

    it("imports only its own files, Node's modules, and its declared dependencies", () => {
      const named = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
      const others = sources.flatMap(importsOf).filter((specifier) => !/^(node:|\.\/)/.test(specifier));

      expect(others.filter((specifier) => !named.has(packageOf(specifier)))).toEqual([]);
      expect([...new Set(others.map(packageOf))].sort()).toEqual([...named].sort());
    });

    it('imports from Posthorn only the exports of package.json', () => {
      const ours = sources.flatMap(importsOf).filter((specifier) => packageOf(specifier) === 'posthorn');

      expect(new Set(ours)).toEqual(new Set(['posthorn']));
    });

    it('opens no socket itself', () => {
      const opens = /(?<![.\w])(fetch|createConnection|new WebSocket|net\.connect|tls\.connect)\(/;

      expect(sources.filter((file) => opens.test(textOf(file)))).toEqual([]);
      expect(
        sources.filter((file) => /import (?!type)[^;]*'node:(net|tls|http|https|http2|dgram)'/.test(textOf(file))),
      ).toEqual([]);
    });
  },
);

describe('package.json', () => {
  it("exports the public API, the conformance suite, the client and the portal's embedding code, with their types", () => {
    const { exports } = JSON.parse(textOf('package.json')) as { exports: unknown };

    expect(exports).toEqual({
      '.': { types: './dist/src/extension/index.d.ts', default: './dist/src/extension/index.js' },
      './testing': { types: './dist/src/testing/index.d.ts', default: './dist/src/testing/index.js' },
      './client': { types: './dist/src/client/index.d.ts', default: './dist/src/client/index.js' },
      './portal': { types: './dist/console/embed/portal.d.ts', default: './dist/console/embed/portal.js' },
      './package.json': './package.json',
    });
  });
});
