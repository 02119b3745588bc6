import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { type Options, transformSync } from '@swc/core';
import ts from 'typescript';
import { ROOT, textOf } from './source-tree.js';

/** A value that a source file declares at its top level. */
export interface DeclaredValue {
  name: string;
  line: number;
  value: unknown;
}

/** Name of the export that is appended to each loaded file. */
const VALUES = 'valuesOfModule';

const { $schema: _schema, module: _module, ...SWC } = JSON.parse(textOf('.swcrc')) as Options & { $schema?: string };

/** Returns the parsed syntax tree of a source file of the project. */
export const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);

/** Returns the line number of a node. Lines are counted from 1. */
export const lineOf = (node: ts.Node): number => {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
};

/** Loads source files and returns the values of their top-level constants, whether exported or not. */
export async function valuesOf(files: readonly string[]): Promise<Map<string, DeclaredValue[]>> {
  const modules = new Map<string, vm.Module>();
  for (const file of files) modules.set(file, sourceModule(file));
  for (const file of files) await addImports(file, modules);
  const values = new Map<string, DeclaredValue[]>();
  for (const file of files) {
    const loaded = modules.get(file) as vm.Module;
    if (loaded.status === 'unlinked')
      await loaded.link((specifier, from) => modules.get(keyOf(specifier, from.identifier)) as vm.Module);
    await loaded.evaluate();
    const { [VALUES]: found } = loaded.namespace as Record<string, Record<string, unknown>>;
    values.set(
      file,
      constantsOf(file).map(({ name, line }) => ({ name, line, value: found?.[name] })),
    );
  }
  return values;
}

function sourceModule(file: string): vm.SourceTextModule {
  return new vm.SourceTextModule(withValues(file), {
    identifier: file,
    initializeImportMeta: (meta: ImportMeta) => {
      meta.dirname = path.dirname(path.join(ROOT, file));
      meta.url = pathToFileURL(path.join(ROOT, file)).href;
    },
  });
}

async function addImports(file: string, modules: Map<string, vm.Module>): Promise<void> {
  for (const specifier of (modules.get(file) as vm.SourceTextModule).dependencySpecifiers) {
    const key = keyOf(specifier, file);
    if (!modules.has(key)) modules.set(key, importedModule(key, await importOf(key)));
  }
}

async function importOf(key: string): Promise<Record<string, unknown>> {
  return (await import(key.endsWith('.ts') ? path.join(ROOT, key) : key)) as Record<string, unknown>;
}

/** Returns the source file of an import, or the specifier of a package. */
function keyOf(specifier: string, from: string): string {
  if (specifier.startsWith('#')) return `src/${specifier.slice(1)}`.replace(/\.js$/, '.ts');
  if (!specifier.startsWith('.')) return specifier;
  return path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '.ts');
}

function importedModule(key: string, namespace: Record<string, unknown>): vm.Module {
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(
    names,
    function () {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { identifier: key },
  );
}

function withValues(file: string): string {
  const names = constantsOf(file).map(({ name }) => name);
  const { code } = transformSync(`${textOf(file)}\nexport const ${VALUES} = { ${names.join(', ')} };\n`, {
    ...SWC,
    jsc: { ...SWC.jsc, baseUrl: ROOT },
    swcrc: false,
    sourceMaps: false,
    filename: file,
    module: { type: 'es6' },
  });
  return code;
}

function constantsOf(file: string): { name: string; line: number }[] {
  return parse(file)
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .flatMap(({ name }) => identifiersOf(name))
    .map((identifier) => ({ name: identifier.text, line: lineOf(identifier) }));
}

function identifiersOf(name: ts.BindingName): ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? identifiersOf(element.name) : []));
}
