import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The examples of a client's README, without the indentation of lists. */
export function examplesOf(folder: string, fence: string): string[] {
  const readme = readFileSync(`${root}/clients/${folder}/README.md`, 'utf8');
  return [...readme.matchAll(new RegExp(`^( *)\`\`\`${fence}\\n(.*?)^ *\`\`\``, 'gms'))].map(
    ([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}
