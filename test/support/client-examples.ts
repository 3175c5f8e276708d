import { fileURLToPath } from 'node:url';
import { blocksOf } from './guide-examples.ts';

/** The root of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the examples of a client's README, without the indentation of lists. */
export function examplesOf(folder: string, fence: string): string[] {
  return blocksOf(`clients/${folder}/README.md`)
    .filter(({ language }) => language === fence)
    .map(({ text }) => text);
}
