// Writes `schema.graphql`; with --check, fails when the committed file is not what the code says.
import { readFileSync, writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graphql/schema.ts';

const FILE = new URL('../schema.graphql', import.meta.url);
const printed = printedSchema();

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, printed);
  console.log('schema.graphql written');
} else if (readFileSync(FILE, 'utf8') !== printed) {
  console.error('schema.graphql is not what the code says: run `npm run build` and review the change');
  process.exitCode = 1;
}
