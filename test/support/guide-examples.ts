import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SOURCES } from '../../scripts/docs/contents.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** An example of a guide: a single command of a shell block, or another block as a whole. */
export interface Example {
  /** `docs/api/errors.md`. */
  readonly guide: string;
  /** The line where its block begins, from 1. */
  readonly line: number;
  /** The language that the block's fence names; empty if it names none. */
  readonly language: string;
  readonly text: string;
}

/** The documents with examples for users: the project's README, the pages at /docs, and the READMEs of clients. */
export const GUIDES: readonly string[] = [
  ...new Set(['README.md', ...Object.values(SOURCES), ...globSync('clients/*/README.md', { cwd: ROOT })]),
].toSorted();

/** A client, the language of the fences in its README, and the test that runs them. */
export const CLIENT_EXAMPLES = [
  ['typescript', 'ts', 'test/clients/conformance.test.ts'],
  ['python', 'python', 'test/long/client-python.test.ts'],
  ['php', 'php', 'test/long/client-php.test.ts'],
  ['java', 'java', 'test/long/client-java.test.ts'],
  ['go', 'go', 'test/long/client-go.test.ts'],
] as const;

type Rule = (example: Example) => boolean;

const isCommand =
  (pattern: RegExp): Rule =>
  ({ language, text }) =>
    language === 'sh' && pattern.test(text);
const isOf =
  (guide: string, ...languages: readonly string[]): Rule =>
  (example) =>
    example.guide === guide && languages.includes(example.language);
/** Matches the lines that install a package of clients/. */
const installs: Rule = (example) =>
  /^clients\/(?:typescript|python|php|java|go|cli)\/README\.md$/.test(example.guide) &&
  isCommand(/^(?:npm install|pip|composer|go|mvn) /)(example);
/** Matches code for a page that imports the modules it uses. */
const isModule: Rule = ({ language, text }) => language === 'js' && text.startsWith('import ');

/** The rules by which each test takes its examples, with {@link examplesRunBy}. */
const RUN_BY = {
  'test/api/guides.test.ts': isCommand(/^curl /),
  'test/clients/command-examples.test.ts': isCommand(/^(?:fatoura|export|node) /),
  'test/long/doors.test.ts': (example) =>
    installs(example) || (example.guide === 'README.md' && isCommand(/^npm ci && npm start$/)(example)),
  'test/long/client-collections.test.ts': isCommand(/^(?:\(cd bruno && bru|newman) run /),
  'test/api/documented-operations.test.ts': ({ language }) => language === 'graphql',
  'test/unit/webhook/snippets.test.ts': isOf('docs/webhooks.md', 'js', 'python', 'php', 'java'),
  'test/browser/live-libraries.test.ts': (example) => isModule(example) && !/^docs\/webhooks/.test(example.guide),
  'test/browser/live-invoice.test.ts': (example) => isOf('docs/live-pages.md', 'js')(example) && !isModule(example),
  'test/browser/live-element.test.ts': ({ language }) => language === 'html',
  'test/browser/embedding.test.ts': isOf('docs/api/embedding.md', 'js'),
  'test/api/error-examples.test.ts': isOf('docs/api/errors.md', 'json'),
  'test/long/mcp.test.ts': isOf('clients/cli/README.md', 'json'),
  'test/unit/scripts/schema-policy.test.ts': isOf('docs/api/graphql.md', ''),
  'test/unit/cli/samples.test.ts': isOf('README.md', 'jsonc'),
} as const satisfies Readonly<Record<string, Rule>>;

type Runner = keyof typeof RUN_BY;

/** Returns the tests that run an example. */
export function runnersOf(example: Example): string[] {
  const own = CLIENT_EXAMPLES.filter(([client, fence]) => isOf(`clients/${client}/README.md`, fence)(example));
  return [...RUNNERS.filter((test) => RUN_BY[test](example)), ...own.map(([, , test]) => test)];
}

/** The tests that take their examples by {@link examplesRunBy}. */
export const RUNNERS = Object.keys(RUN_BY) as Runner[];

/** Returns all examples, guide by guide, in order. */
export function allExamples(): Example[] {
  return GUIDES.flatMap(examplesIn);
}

/** Returns the examples that a test has to run. @param test its own path */
export function examplesRunBy(test: Runner): Example[] {
  return allExamples().filter((example) => RUN_BY[test](example));
}

/** Returns the only example that a test has to run. @throws Error if there is none or more than one */
export function exampleRunBy(test: Runner): Example {
  const [example, ...others] = examplesRunBy(test);
  if (!example || others.length > 0) throw new Error(`${test} has to run ${others.length + 1} examples`);
  return example;
}

/** Returns the blocks of a guide unchanged, without the indentation of lists. */
export function blocksOf(guide: string): Example[] {
  const source = readFileSync(`${ROOT}/${guide}`, 'utf8');
  return [...source.matchAll(/^( *)```(\S*)[^\n]*\n(.*?)^ *```$/gms)].map(
    ({ 1: indent = '', 2: language = '', 3: text = '', index }) => ({
      guide,
      line: source.slice(0, index).split('\n').length,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

function examplesIn(guide: string): Example[] {
  return blocksOf(guide).flatMap((block) =>
    block.language === 'sh' ? commandsOf(block.text).map((text) => ({ ...block, text })) : [block],
  );
}

/** A placeholder that the reader replaces: `ID=inv_…`. Tests have it in their environment. */
const PLACEHOLDER = /^[A-Z_]+=\S*…\S*(?: +#.*)?$/;

/**
 * Splits a shell block into commands. A line with an open quote or a continuation at its end includes the following
 * lines.
 */
function commandsOf(text: string): string[] {
  const commands: string[] = [];
  let isOpen = false;
  for (const line of text.trimEnd().split('\n')) {
    if (isOpen) commands.push(`${commands.pop()}\n${line}`);
    else if (line !== '' && !PLACEHOLDER.test(line)) commands.push(line);
    const whole = commands.at(-1) ?? '';
    isOpen = whole.endsWith('\\') || whole.split("'").length % 2 === 0;
  }
  return commands;
}
