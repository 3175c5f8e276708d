// Writes `openapi.json`. With --check, fails if the committed file differs from the generated one.
import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../src/transport/rest/openapi.ts';
import { ROUTES } from '../src/transport/rest/routes.ts';

const FILE = new URL('../openapi.json', import.meta.url);
const printed = `${JSON.stringify(openApiDocument(ROUTES), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, printed);
  console.log('openapi.json written');
} else if (readFileSync(FILE, 'utf8') !== printed) {
  console.error('openapi.json differs from the generated one: run `npm run build` and review the change');
  process.exitCode = 1;
}
