import { describe, expect, it } from 'vitest';
import { readModule } from '../../../scripts/check/module-imports.ts';

const kinds = (source: string): string[] =>
  readModule(source).imports.map(({ kind, specifier, line }) => `${line} ${kind} ${specifier}`);

describe('readModule', () => {
  it.each([
    [`import 'a';`, '1 value a'],
    [`import a from "a";`, '1 value a'],
    [`import * as a from 'a'`, '1 value a'],
    [`import a, { b as c, default as d } from 'a';`, '1 value a'],
    [`import {\n  a,\n  b,\n} from 'a';`, '1 value a'],
    [`import data from './data.json' with { type: 'json' };`, '1 value ./data.json'],
    [`import type { A } from 'a';`, '1 type a'],
    [`import type A from 'a';`, '1 type a'],
    [`import type * as A from 'a';`, '1 type a'],
    [`import type from 'a';`, '1 value a'],
    [`import type, { b } from 'a';`, '1 value a'],
    [`import { type A } from 'a';`, '1 value a'],
    [`export * from 'a';`, '1 value a'],
    [`export * as from from 'a';`, '1 value a'],
    [`export { a, type B } from 'a';`, '1 value a'],
    [`export type { A } from 'a';`, '1 type a'],
    [`export type * from 'a';`, '1 type a'],
    [`const a = await import('a');`, '1 dynamic a'],
    ['const a = await import(`a`);', '1 dynamic a'],
    [`const a = await import(name);`, '1 dynamic null'],
    [`const a = await import('a' + name);`, '1 dynamic null'],
    [`const require = createRequire(import.meta.url);\nrequire('a');`, '2 dynamic a'],
    [`createRequire(import.meta.url)('a');`, '1 dynamic a'],
    [`const load = createRequire(import.meta.url);\nload('a');`, '1 dynamic null'],
    [`import a = require('a');`, '1 value a'],
    [`import type A = require('a');`, '1 type a'],
    [`let a: import('a').A;`, '1 type a'],
    [`new Worker(new URL('./worker.ts', import.meta.url));`, '1 url ./worker.ts'],
    [`const [a] = [...import('a')];`, '1 dynamic a'],
    [`const a = \`x \${await import('a')} y\`;`, '1 dynamic a'],
    [`if (a) /'/.test(b);\nimport 'a';`, '2 value a'],
    [`const a = b! / 2; const c = d++ / 2;\nimport 'a'; // don't`, '2 value a'],
    [`const a = \`\n\${b}\n\`;\nimport "a";`, '4 value a'],
    [`const a = /[/'"\`]/;\nimport 'a';`, '2 value a'],
  ])('%j', (source, expected) => {
    expect(kinds(source)).toEqual([expected]);
  });

  it.each([
    `// import 'a';`,
    `/* import 'a'; */`,
    `const a = "import 'a'";`,
    "const a = `import 'a'`;",
    `const a = /import 'a'/;`,
    `a.import('b'); a?.require('b');`,
    `function require(holds: boolean): asserts holds {}\nrequire(a === 'b');`,
    `const a = { import: 'b', from: 'c' };`,
    `export const a = 1; const b = { from: 'c' };`,
    `export type A = { from: 'b' };`,
    `export { a };\nconst from = 'b';`,
    `import.meta.url;`,
    `import a = b.c;`,
    `const a = createRequire(import.meta.url).resolve('b');`,
    `new URL('./page.html', import.meta.url); new URL('http://a/b.ts');`,
  ])('finds no import in %j', (source) => {
    expect(kinds(source)).toEqual([]);
  });

  it.each([
    'process.env.A',
    'process?.env',
    `process['env']`,
    'const { env } = process',
    'const { argv, env: e } = process',
    `import { env } from 'node:process'`,
    'globalThis.process.env',
  ])('finds the environment read in %s', (source) => {
    expect(readModule(`\n${source};`).environmentReads).toEqual([2]);
  });

  it.each(['process.exit()', 'const { argv } = process', `'process.env'`, '// process.env', 'this.env'])(
    'finds no environment read in %s',
    (source) => {
      expect(readModule(source).environmentReads).toEqual([]);
    },
  );

  it.each([
    'const a = { ...{ b, c } }',
    "const a = ['b', ...['c', 'd']]",
    "const a = [...(['b', 'c'] as const)] as const",
    'const a = { ...({ b: 1 } as const) }',
    'a(...[b, c])',
    'new A(...[b, c])',
  ])('finds the spread of a literal in %s', (source) => {
    expect(readModule(`\n${source};`).literalSpreads).toEqual([2]);
  });

  it.each([
    'const a = { ...b, ...(c && { d }), ...(e ? { f } : {}) }',
    "const a = [...b, ...['c'].map(d), ...[...b].toSorted(), ...(c ? ['d'] : [])]",
    'const a = { ...({ b } as object) }',
    'const f = (...[a, b]: C) => a',
    "const a = '...{ b }'; // ...['b']",
  ])('finds no spread of a literal in %s', (source) => {
    expect(readModule(source).literalSpreads).toEqual([]);
  });

  it('reads JSX in a file of that name only', () => {
    const source = `import { b } from 'b';\nexport const a = () => <b.c d={<i>e</i>} />;`;
    expect(readModule(source, 'src/dashboard/a.tsx').imports.map(({ specifier }) => specifier)).toEqual(['b']);
    expect(() => readModule(source, 'src/a.ts')).toThrow(/^line 2: /);
  });

  it.each(["const a = 'b", 'const a = `b', '/* a', 'if (a) {'])('throws on invalid source %j', (source) => {
    expect(() => readModule(source)).toThrow(/^line 1: /);
  });
});
