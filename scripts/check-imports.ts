import { existsSync, readFileSync } from 'node:fs';
import { builtinModules, isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT_READERS, findRow, IMPORT_TABLE, judge, type Row } from './check/import-table.ts';
import { type ModuleImport, type ModuleReading, readModule } from './check/module-imports.ts';
import { checkText, projectFiles } from './check/text-rules.ts';

const LITERAL_SPREAD = 'spreads a literal; write its members where it stands, as the formatter does';

/**
 * Checks the tree under `root` (a folder with src/, package.json and the other files of the project): the import table,
 * cycles between modules, modules of Node that pages would load, packages that `npm ci --omit=dev` would not install,
 * files that read the process environment, spreads of literals, and texts that tie the project to one machine. Returns
 * one line per problem.
 */
export function checkTree(root: string, table: readonly Row[] = IMPORT_TABLE): string[] {
  const files = projectFiles(root);
  const problems = checkText(root, files);
  const modules = new Map<string, ModuleReading>();
  for (const file of files.filter((name) => /^(src|test|scripts|clients)\/.*\.[cm]?[jt]sx?$/.test(name))) {
    try {
      const reading = readModule(readFileSync(join(root, file), 'utf8'), file);
      for (const line of reading.literalSpreads) problems.push(`${file}:${line}: ${LITERAL_SPREAD}`);
      // Packages of clients also import files that are built.
      if (!file.startsWith('clients/')) modules.set(file, reading);
    } catch (error) {
      problems.push(`${file}: can't be read: ${(error as Error).message}`);
    }
  }
  const dependencies = readDependencies(root);
  for (const [file, { imports, environmentReads }] of modules) {
    for (const found of imports) {
      const target = resolve(file, found);
      if (target !== null && !existsSync(join(root, target))) {
        problems.push(`${file}:${found.line}: imports ${found.specifier}, which does not exist`);
      }
    }
    if (file.startsWith('src/')) problems.push(...checkSource(file, imports, environmentReads, table, dependencies));
  }
  return [...problems, ...findNodeInPages(modules), ...findCycles(modules)];
}

/** Checks a file of src/. */
function checkSource(
  file: string,
  imports: readonly ModuleImport[],
  environmentReads: readonly number[],
  table: readonly Row[],
  dependencies: Dependencies,
): string[] {
  const name = file.slice('src/'.length);
  const place = findRow(table, name);
  if (!place) return [`${file}: no row of the import table covers it (scripts/check/import-table.ts)`];
  const problems = ENVIRONMENT_READERS.includes(name)
    ? []
    : environmentReads.map(
        (line) => `${file}:${line}: reads process.env; only ${ENVIRONMENT_READERS.join(' and ')} may`,
      );
  for (const found of imports) {
    const problem = checkImport(file, found, place, dependencies);
    if (problem) problems.push(`${file}:${found.line}: ${problem}`);
  }
  return problems;
}

function checkImport(
  file: string,
  found: ModuleImport,
  place: { row: Row; own: string },
  dependencies: Dependencies,
): string | undefined {
  const { specifier, kind } = found;
  if (specifier === null) return 'imports a computed address; the table cannot be checked';
  const target = resolve(file, found);
  if (target === null) return checkPackage(specifier, kind, place.row, dependencies);
  if (target === 'package.json') return undefined;
  if (!target.startsWith('src/')) return `imports ${target}, outside src/`;
  const verdict = judge(place, target.slice('src/'.length), kind === 'type');
  if (verdict.allowed) return undefined;
  return `${place.row.path} may not import ${target}${verdict.asType ? ', except by "import type"' : ''}`;
}

/** The package names in package.json. */
interface Dependencies {
  shipped: ReadonlySet<string>;
  all: ReadonlySet<string>;
  /** Optional peer dependencies, which are not installed by default and may therefore only be imported dynamically. */
  peers: ReadonlySet<string>;
}

function readDependencies(root: string): Dependencies {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, object | undefined>;
  const shipped = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  return {
    shipped: new Set(shipped),
    all: new Set([...shipped, ...Object.keys(manifest.devDependencies ?? {})]),
    peers: new Set(Object.keys(manifest.peerDependenciesMeta ?? {})),
  };
}

function checkPackage(
  specifier: string,
  kind: ModuleImport['kind'],
  row: Row,
  { shipped, all, peers }: Dependencies,
): string | undefined {
  if (isBuiltin(specifier)) {
    return builtinModules.includes(specifier) && !specifier.startsWith('node:') ? `write node:${specifier}` : undefined;
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (row.packages && !row.packages.includes(name)) return `${row.path} may not import the package ${name}`;
  if (shipped.has(name) || (kind === 'dynamic' && peers.has(name))) return undefined;
  const types = `@types/${name.replace(/^@(.*)\//, '$1__')}`;
  if (kind === 'type' && (all.has(name) || all.has(types))) return undefined;
  return `the package ${name} is not among package.json's dependencies`;
}

/** Returns the target of a relative import as a path from the root; null for packages and computed specifiers. */
function resolve(file: string, { specifier }: ModuleImport): string | null {
  return specifier?.startsWith('.') ? posix.join(posix.dirname(file), specifier) : null;
}

/** Modules of Node that a page would load, which browsers lack. */
function findNodeInPages(modules: ReadonlyMap<string, ModuleReading>): string[] {
  const problems: string[] = [];
  // A set is iterated to what is added meanwhile.
  const reached = new Set([...modules.keys()].filter((file) => file.startsWith('src/dashboard/')));
  for (const file of reached)
    for (const found of modules.get(file)?.imports ?? []) {
      if (found.kind === 'type') continue;
      if (found.specifier?.startsWith('node:'))
        problems.push(`${file}:${found.line}: pages load it, and browsers have no ${found.specifier}`);
      const target = resolve(file, found);
      if (target !== null) reached.add(target);
    }
  return problems;
}

/** Import cycles, type imports included. A module that runs in another thread does not close a cycle. */
function findCycles(modules: ReadonlyMap<string, ModuleReading>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push(`import cycle: ${[...path.slice(start), file].join(' → ')}`);
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const found of modules.get(file)?.imports ?? []) {
      const target = found.kind === 'url' ? null : resolve(file, found);
      if (target !== null) visit(target);
    }
    path.pop();
    done.add(file);
  };
  for (const file of modules.keys()) visit(file);
  return cycles;
}

if (import.meta.main) {
  const problems = checkTree(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
