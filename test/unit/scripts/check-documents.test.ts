import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkDocuments } from '../../../scripts/check-documents.ts';

const SOUND: Readonly<Record<string, string>> = {
  'README.md':
    '![A picture](docs/images/a.png) <img src="docs/images/a.png"> [Guide](docs/guide.md#the-2-steps) [Web](https://example.com/src/x)',
  'docs/guide.md':
    '# Guide\n## The 2 steps\n`src/app/app.ts`, then `src/app/`. [Back](../README.md) [Here](#guide)\n```sh\n# No heading\n```\n',
  'docs/wide.md': `| ${'table '.repeat(30)}|\n\n\`\`\`\n${'code '.repeat(30)}\n\`\`\`\n\n[${'word '.repeat(20)}](https://example.com/${'a'.repeat(40)})`,
  'docs/images/a.png': '\0',
  'docs/decisions/0001-first.md': '# 1. First',
  'docs/decisions/0002-second.md': '# 2. Second, after [the first](0001-first.md)',
  'src/app/app.ts':
    '/** Starts (docs/decisions/0002; docs/guide.md, "The 2 steps"). The index specification is a text. */',
  'test/a.test.ts': "// docs/decisions/0001\nimport '../src/nowhere.ts';",
};

const BROKEN: readonly [rule: string, file: string, text: string, problem: string][] = [
  ['a path that is not there', 'docs/a.md', 'see\n`src/gone.ts`.', 'docs/a.md:2: there is no src/gone.ts'],
  ['a path in a diagram', 'docs/a.md', '```mermaid\na[src/gone<br>x]\n```', 'docs/a.md:2: there is no src/gone'],
  ['a link to no file', 'docs/a.md', '[x](gone.md)', 'docs/a.md:1: there is no docs/gone.md'],
  ['a picture that is not there', 'README.md', '<img src="docs/b.png">', 'README.md:1: there is no docs/b.png'],
  ['a link to no heading', 'README.md', '[x](docs/guide.md#steps)', 'README.md:1: docs/guide.md has no heading #steps'],
  [
    'a comment in a shell block as heading',
    'README.md',
    '[x](docs/guide.md#no-heading)',
    'README.md:1: docs/guide.md has no heading #no-heading',
  ],
  ['a line that is not wrapped', 'docs/a.md', `a\n${'b'.repeat(121)}`, 'docs/a.md:2: is longer than 120 characters'],
  [
    'a long line after code',
    'docs/a.md',
    `\`\`\`\n\`\`\`\n${'b'.repeat(121)}`,
    'docs/a.md:3: is longer than 120 characters',
  ],
  ['code cites no decision', 'src/a.ts', '// docs/decisions/0003', 'src/a.ts:1: there is no docs/decisions/0003'],
  [
    'code cites no heading',
    'src/a.ts',
    '// docs/guide.md, "Steps"',
    'src/a.ts:1: docs/guide.md has no heading "Steps"',
  ],
  ['code cites no page', 'src/a.ts', '// docs/b.md, "Steps"', 'src/a.ts:1: there is no docs/b.md'],
  ['a gap in the numbers', 'docs/decisions/0004-x.md', '', 'docs/decisions: 0004 is not the number after 2'],
  ['a number twice', 'docs/decisions/0002-x.md', '', 'docs/decisions: 0002 is not the number after 2'],
  [
    'a comment cites the design',
    'src/a.ts',
    '// (design, section 5)',
    'src/a.ts:1: cites what is not in the repository: (design,',
  ],
  [
    'a comment cites the specification',
    'test/b.ts',
    '// x (specification, "Y")',
    'test/b.ts:1: cites what is not in the repository: (specification,',
  ],
];

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'check-documents-'));
  for (const [file, text] of Object.entries(SOUND)) plant(file, text);
});
afterEach(() => rmSync(root, { recursive: true }));

function plant(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

it('finds nothing in a sound tree', () => {
  expect(checkDocuments(root)).toEqual([]);
});

it.each(BROKEN)('finds %s', (_rule, file, text, problem) => {
  plant(file, text);
  expect(checkDocuments(root)).toContain(problem);
});
