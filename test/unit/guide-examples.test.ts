import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CASES } from '../support/client-cases.ts';
import { root } from '../support/client-examples.ts';
import {
  allExamples,
  blocksOf,
  CLIENT_EXAMPLES,
  type Example,
  GUIDES,
  RUNNERS,
  runnersOf,
} from '../support/guide-examples.ts';

// Every example of the guides is run by a test: each belongs to the rule of one test of test/support/guide-examples.ts,
// from which that test takes it. The French pages take their code from the English ones (test/unit/docs-site.test.ts).

const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const examples = allExamples();

/** Examples that no test runs: why, and what they are compared with instead. */
const NOT_RUN: readonly {
  readonly is: (example: Example) => boolean;
  readonly why: string;
  readonly compare?: (text: string) => void;
}[] = [
  {
    is: ({ guide, text }) => guide === 'README.md' && text === 'npm ci && npm test',
    why: 'it runs the tests themselves; .ci/run does it',
    compare() {
      expect(read('.ci/run')).toMatch(/^step \d+ npm ci\b/m);
      expect(read('.ci/run')).toMatch(/ npm test\b/);
    },
  },
  {
    is: ({ guide, language }) => guide === 'docs/webhooks.md' && language === 'csharp',
    why: 'no machine that runs the tests has .NET',
  },
  {
    is: ({ guide }) => guide === 'clients/conformance/README.md',
    why: 'abridged lines between the suite and a program, which clientSuite of test/support/client-suite.ts speaks',
    compare(text) {
      const [{ call }, { ok }, { error }] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const calls = CASES.flatMap((each) => each.calls);
      const made = calls.find((each) => each.call === call && each.error?.code === error.code);
      expect(error).toMatchObject({ ...made?.error, class: made?.error?.class });
      expect(Object.keys(ok)).toEqual(['id', 'status']);
    },
  },
];

const place = ({ guide, line, text }: Example) => `${guide}:${line} ${text.split('\n')[0]}`;
const reasonsFor = (example: Example) => NOT_RUN.filter(({ is }) => is(example));

describe('the examples of the guides', () => {
  it('are in blocks that this project reads', () => {
    for (const guide of GUIDES) {
      const fences = read(guide).match(/^ *(?:```|~~~)/gm) ?? [];
      expect([guide, fences.length]).toEqual([guide, blocksOf(guide).length * 2]);
    }
    expect(examples.length).toBeGreaterThan(90);
  });

  it('are each run by one test, or say why they are not', () => {
    const wrong = examples.filter((example) => runnersOf(example).length + reasonsFor(example).length !== 1);
    expect(wrong.map((example) => [place(example), runnersOf(example)])).toEqual([]);
  });

  it.each(RUNNERS)('%s takes them', (test) => {
    expect(examples.some((example) => runnersOf(example).includes(test))).toBe(true);
    expect(read(test)).toMatch(new RegExp(`\\bexamples?RunBy\\('${RegExp.escape(test)}'\\)`));
  });

  it.each(CLIENT_EXAMPLES)(
    'those of clients/%s are tried in turn, and the last one verifies',
    (client, fence, test) => {
      const source = read(test);
      for (const part of [
        `folder: '${client}'`,
        `fence: '${fence}'`,
        'examplesInTurn(',
        'verifyExample(',
        'clientSuite(',
      ])
        expect(source).toContain(part);
      const own = examples.filter(
        ({ guide, language }) => guide === `clients/${client}/README.md` && language === fence,
      );
      expect(own.map(({ text }) => /verify/i.test(text))).toEqual([...own.slice(1).map(() => false), true]);
    },
  );

  it.each(NOT_RUN)('is not run: $why', ({ is, compare }) => {
    const [example, ...others] = examples.filter(is);
    expect(others).toEqual([]);
    compare?.(example?.text ?? '');
    expect(example).toBeDefined();
  });

  it('are not in a folder that nobody reads', () => {
    for (const guide of ['docs/api/errors.md', 'docs/live-pages.md', 'docs/webhooks.md', 'clients/cli/README.md'])
      expect(GUIDES).toContain(guide);
    expect(GUIDES.filter((guide) => !existsSync(`${root}/${guide}`))).toEqual([]);
  });
});
