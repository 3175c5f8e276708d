import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { examplesOf, root } from '../support/client-examples.ts';

// The table of lines in clients/README.md is counted from the examples of the clients' READMEs.

/** What an integration needs, by what its example calls. */
const PARTS = [
  ['create and repeat', /invoices\W+create\b/i],
  ['list', /invoices\W+list\b/i],
  ['follow', /invoices\W+follow\b/i],
  ['verify', /verify/i],
] as const;
const CLIENTS = [
  ['TypeScript', 'typescript', 'ts'],
  ['Python', 'python', 'python'],
  ['PHP', 'php', 'php'],
  ['Java', 'java', 'java'],
  ['Go', 'go', 'go'],
] as const;
/** Lines that a user writes at most. */
const MOST = 15;

const linesOf = (example: string): number => example.split('\n').filter((line) => line.trim() !== '').length;

it.each(CLIENTS)('the lines to write in %s are those of its README', (name, folder, fence) => {
  const examples = examplesOf(folder, fence);
  const counts = PARTS.map(([, call]) => linesOf(examples.find((each) => call.test(each)) ?? ''));
  expect(counts.every((count) => count > 0)).toBe(true);
  const sum = counts.reduce((all, count) => all + count, 0);
  expect(sum).toBeLessThanOrEqual(MOST);
  const rows = readFileSync(`${root}/clients/README.md`, 'utf8').split('\n');
  const [, byHand, ...stated] = (rows.find((row) => row.startsWith(`| ${name} |`)) ?? '').split(' | ').map(cell);
  expect(stated.map(Number)).toEqual([sum, ...counts]);
  if (byHand !== '–') expect(Number(byHand)).toBeGreaterThan(sum);
});

const cell = (text: string): string => text.replaceAll('|', '').trim();
