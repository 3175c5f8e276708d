import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkTree } from '../../../scripts/check-imports.ts';

/** A small valid tree that uses each permission of the table. */
const SOUND: Record<string, string> = {
  'package.json':
    '{"dependencies": {"koa": "3", "zod": "4", "bson": "7"}, "devDependencies": {"@types/ws": "8", "vitest": "5"}}',
  'package-lock.json': '{"packages": {"node_modules/koa": {"version": "3.0.0"}}}',
  'src/main.ts': `import { app } from './app/app.ts'; import { c } from './cli/c.ts'; import { config } from './config.ts';`,
  'src/cli.ts': `import './app/app.ts'; import './app/administration.ts'; import './config.ts'; import './cli/c.ts';`,
  'src/cli/c.ts': `import type { app } from '../app/app.ts'; export const c = 1;`,
  'src/app/app.ts': `import '../transport/server.ts'; import '../storage/store.ts'; import '../jobs/job.ts';
    import '../adapters/ubl/write.ts'; import './store.ts'; export const app = 1;`,
  'src/app/store.ts': `import '../engine/embedded.ts';`,
  'src/app/administration.ts': '',
  'src/config.ts': `import type { Tenant } from './domain/tenant/tenant.ts'; export const config = process.env.PORT;`,
  'src/transport/server.ts': `import Koa from 'koa'; import { route } from './rest/routes.ts';
    import type { Socket } from 'ws';`,
  'src/transport/rest/routes.ts': `import { run } from '../../graphql/execute.ts'; import '../../domain/errors.ts';
    import '../../domain/invoice/create-invoice-input.ts'; import type { State } from '../state.ts'; export const route = 1;`,
  'src/transport/state.ts': 'export type State = 1;',
  'src/graphql/execute.ts': `import './types/invoice.ts'; export const run = 1;`,
  'src/graphql/types/invoice.ts': `import { createInvoice } from '../../domain/invoice/create-invoice.ts';`,
  'src/domain/errors.ts': `import type { Tenant } from './tenant/tenant.ts';`,
  'src/domain/invoice/create-invoice.ts': `import './create-invoice-input.ts'; import '../errors.ts'; import { z } from 'zod';
    import { TENANTS } from '../tenant/tenant.ts'; import type { UpdateTenant } from '../tenant/update-tenant.ts';`,
  'src/domain/invoice/create-invoice-input.ts': `import { createHash } from 'node:crypto';`,
  'src/domain/tenant/tenant.ts': `import type { Invoice } from '../invoice/invoice.ts'; export const TENANTS = 1;`,
  'src/domain/invoice/invoice.ts': 'export type Invoice = 1;',
  'src/domain/tenant/update-tenant.ts': '',
  'src/storage/store.ts': `import '../domain/invoice/create-invoice.ts';`,
  'src/jobs/job.ts': `import '../domain/invoice/create-invoice.ts'; import '../storage/duplicate-key.ts';`,
  'src/storage/duplicate-key.ts': '',
  'src/adapters/ubl/write.ts': `import '../../domain/errors.ts'; import './namespaces.ts'; import '../../text/words.ts';`,
  'src/text/words.ts': `import '../domain/money.ts';`,
  'src/domain/money.ts': '',
  'src/adapters/ubl/namespaces.ts': '',
  'src/adapters/xades/sign.ts': `import '../../domain/errors.ts';`,
  'src/engine/embedded.ts': `new Worker(new URL('./worker.ts', import.meta.url)); import './query/match.ts';`,
  'src/engine/worker.ts': `import { a } from './embedded.ts';`,
  'src/engine/main.ts': `import './embedded.ts'; process.env.PORT;`,
  'src/engine/query/match.ts': `import { Long } from 'bson';`,
  'test/unit/match.test.ts': `import '../../src/engine/query/match.ts'; import '../../src/app/app.ts'; process.env.A;`,
  'scripts/tool.ts': `import '../src/app/app.ts'; await import(process.argv[2]);`,
};

/** The broken rule, the file that breaks it, its text, and the one expected problem. */
const BROKEN: [rule: string, file: string, text: string, problem: string][] = [
  [
    'main.ts imports the domain',
    'src/main.ts',
    `import './domain/errors.ts';`,
    'main.ts may not import src/domain/errors.ts',
  ],
  [
    'cli.ts imports storage',
    'src/cli.ts',
    `import './storage/store.ts';`,
    'cli.ts may not import src/storage/store.ts',
  ],
  [
    'a command loads the service',
    'src/cli/c.ts',
    `import { app } from '../app/app.ts';`,
    'may not import src/app/app.ts, except by "import type"',
  ],
  [
    'transport imports the composition',
    'src/transport/server.ts',
    `\nimport type { A } from '../app/app.ts';`,
    'src/transport/server.ts:3: transport/ may not import src/app/app.ts',
  ],
  [
    'the composition imports main.ts',
    'src/app/app.ts',
    `import type { Main } from '../main.ts';`,
    'app/ may not import src/main.ts',
  ],
  [
    "the composition reaches the engine's insides",
    'src/app/app.ts',
    `import '../engine/query/match.ts';`,
    'app/ may not import src/engine/query/match.ts',
  ],
  ['config.ts loads the domain', 'src/config.ts', `import { a } from './domain/errors.ts';`, 'except by "import type"'],
  [
    'transport imports storage',
    'src/transport/server.ts',
    `export * from '../storage/store.ts';`,
    'transport/ may not import src/storage/store.ts',
  ],
  [
    'rest runs a use case',
    'src/transport/rest/routes.ts',
    `import '../../domain/invoice/create-invoice.ts';`,
    'transport/rest/ may not import',
  ],
  [
    "rest reads the schema's types",
    'src/transport/rest/routes.ts',
    `import '../../graphql/types/invoice.ts';`,
    'transport/rest/ may not import',
  ],
  [
    'graphql imports transport',
    'src/graphql/execute.ts',
    `import type { A } from '../transport/server.ts';`,
    'graphql/ may not import',
  ],
  [
    'graphql imports storage at run time',
    'src/graphql/execute.ts',
    `await import('../storage/store.ts');`,
    'graphql/ may not import',
  ],
  [
    'domain imports storage',
    'src/domain/errors.ts',
    `import type { A } from '../storage/store.ts';`,
    'domain/*.ts may not import',
  ],
  [
    "a use case runs another noun's",
    'src/domain/invoice/create-invoice.ts',
    `import { u } from '../tenant/update-tenant.ts';`,
    'except by "import type"',
  ],
  [
    "a noun's types at the domain's root run a use case",
    'src/domain/errors.ts',
    `import { u } from './tenant/update-tenant.ts';`,
    'except by "import type"',
  ],
  ['domain imports koa', 'src/domain/errors.ts', `import type Koa from 'koa';`, 'may not import the package koa'],
  [
    'a module is JavaScript',
    'src/storage/evade.mjs',
    `import '../jobs/job.ts';`,
    'src/storage/evade.mjs:1: storage/ may not import src/jobs/job.ts',
  ],
  ['storage imports jobs', 'src/storage/store.ts', `import '../jobs/job.ts';`, 'storage/ may not import'],
  ['jobs import a repository', 'src/jobs/job.ts', `import '../storage/store.ts';`, 'jobs/ may not import'],
  ['jobs import adapters', 'src/jobs/job.ts', `import '../adapters/ubl/write.ts';`, 'jobs/ may not import'],
  [
    'an adapter imports another',
    'src/adapters/xades/sign.ts',
    `import type { A } from '../ubl/write.ts';`,
    'adapters/<name>/ may not import',
  ],
  [
    'texts know a use case',
    'src/text/words.ts',
    `import '../domain/invoice/create-invoice.ts';`,
    'text/ may not import src/domain/invoice/create-invoice.ts',
  ],
  [
    'the domain prints texts',
    'src/domain/errors.ts',
    `import type { A } from '../text/words.ts';`,
    'domain/*.ts may not import src/text/words.ts',
  ],
  ['storage imports the engine', 'src/storage/store.ts', `import '../engine/embedded.ts';`, 'storage/ may not import'],
  [
    'a thread is started of the engine',
    'src/storage/store.ts',
    `new URL('../engine/worker.ts', import.meta.url);`,
    'storage/ may not import',
  ],
  [
    'engine imports the domain',
    'src/engine/query/match.ts',
    `import type { A } from '../../domain/errors.ts';`,
    'engine/ may not import',
  ],
  ['engine imports koa', 'src/engine/query/match.ts', `import 'koa';`, 'engine/ may not import the package koa'],
  [
    'src imports a script',
    'src/app/app.ts',
    `import type { Tool } from '../../scripts/tool.ts';`,
    'imports scripts/tool.ts, outside src/',
  ],
  ['a folder has no row', 'src/helpers/text.ts', '', 'src/helpers/text.ts: no row of the import table covers it'],
  ['adapters have no loose files', 'src/adapters/text.ts', '', 'no row of the import table covers it'],
  ['an import is computed', 'src/app/app.ts', 'await import(name);', 'imports a computed address'],
  [
    'a target is missing',
    'src/app/app.ts',
    `import '../storage/absent.ts';`,
    'imports ../storage/absent.ts, which does not exist',
  ],
  ['a package is for development only', 'src/app/app.ts', `import 'vitest';`, 'the package vitest is not among'],
  [
    'only the types of a package are installed',
    'src/app/app.ts',
    `import { Socket } from 'ws';`,
    'the package ws is not among',
  ],
  ["one of Node's modules lacks its prefix", 'src/app/app.ts', `import 'fs';`, 'write node:fs'],
  [
    'the environment is read',
    'src/app/app.ts',
    'const port = process.env.PORT;',
    'src/app/app.ts:2: reads process.env',
  ],
  [
    'modules load one another',
    'src/adapters/ubl/namespaces.ts',
    `import './write.ts';`,
    'import cycle: src/adapters/ubl/write.ts → src/adapters/ubl/namespaces.ts → src/adapters/ubl/write.ts',
  ],
  [
    'modules know one another as types',
    'src/adapters/ubl/namespaces.ts',
    `import type { A } from './write.ts';`,
    'import cycle: src/adapters/ubl/write.ts → src/adapters/ubl/namespaces.ts → src/adapters/ubl/write.ts',
  ],
  ['a test helper closes a cycle', 'test/a.ts', `import './a.ts';`, 'import cycle: test/a.ts → test/a.ts'],
  [
    'the members of an object stand in a spread',
    'test/unit/match.test.ts',
    '\nconst a = { ...b, ...{ c: 1, d: 2 } };',
    'test/unit/match.test.ts:2: spreads a literal',
  ],
  [
    'the elements of an array stand in a spread',
    'clients/cli/src/main.ts',
    "const a = [\n  ...['b', 'c'],\n];",
    'clients/cli/src/main.ts:2: spreads a literal',
  ],
  ['a text can not be read', 'src/app/app.ts', `const a = 'b`, "src/app/app.ts: can't be read: line 2: "],
  [
    'a file contains a machine-specific path',
    '.ci/run',
    ['\ncd /ro', 'ot/project'].join(''),
    '.ci/run:2: machine-specific path',
  ],
  ['a document names a home', 'docs/a.md', ['see /ho', 'me/me/notes'].join(''), 'docs/a.md:1: machine-specific path'],
  [
    'a file names a package host',
    '.npmrc',
    ['registry=https://registry.npm', 'js.org/'].join(''),
    '.npmrc:1: package host',
  ],
  [
    'the lock names a host',
    'package-lock.json',
    '{"resolved": "https://mirror.example/koa-3.0.0.tgz"}',
    'package-lock.json:1: host address',
  ],
];

let root: string;
const write = (files: Record<string, string>): void => {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'imports-'));
  write(SOUND);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('checkTree', () => {
  it('reports nothing for a valid tree', () => {
    expect(checkTree(root)).toEqual([]);
  });

  it.each(BROKEN)('reports that %s', (_, file, text, problem) => {
    write({ [file]: (file.startsWith('package') ? '' : (SOUND[file] ?? '')) + text });
    // A forbidden import may also close a cycle, which is reported as a separate problem.
    const isAsked = (found: string) => problem.startsWith('import cycle') || !found.startsWith('import cycle');
    expect(checkTree(root).filter(isAsked)).toEqual([expect.stringContaining(problem)]);
  });

  it('reads the pages', () => {
    write({ 'src/dashboard/main.tsx': `import { Page } from '../app/app.ts';\ndocument.title = <Page />;` });
    expect(checkTree(root)).toEqual([
      'src/dashboard/main.tsx:1: dashboard/ may not import src/app/app.ts',
      // It would come with it.
      'src/domain/invoice/create-invoice-input.ts:1: pages load it, and browsers have no node:crypto',
    ]);
  });

  it('reports a module of Node that a page loads by way of another module', () => {
    write({
      'src/dashboard/main.tsx': `import { limit } from '../domain/limits.ts';`,
      'src/domain/limits.ts': `import { randomUUID } from 'node:crypto'; import type { Hash } from 'node:crypto';`,
    });
    expect(checkTree(root)).toEqual(['src/domain/limits.ts:1: pages load it, and browsers have no node:crypto']);
  });

  it('skips installed files and output of runs', () => {
    const bad = ['at /wo', 'rk/main'].join('');
    write({ 'node_modules/a/index.ts': bad, 'data/a.txt': bad, 'bench-results/a.json': bad, 'a.log': bad });
    expect(checkTree(root)).toEqual([]);
  });
});
