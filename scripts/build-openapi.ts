// Writes `openapi.json`. With --check it writes nothing and fails if the committed file differs from the generated one,
// or if that breaks clients of the published document, which the first release makes. --publish also makes the present
// document the published one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../src/transport/rest/openapi.ts';
import { ROUTES } from '../src/transport/rest/routes.ts';
import { breakingRestChanges } from './check/rest-policy.ts';

const FILE = new URL('../openapi.json', import.meta.url);
const PUBLISHED = new URL('../openapi.published.json', import.meta.url);
const document = openApiDocument(ROUTES);
const printed = `${JSON.stringify(document, null, 2)}\n`;

if (process.argv.includes('--check')) {
  const problems = [];
  if (readFileSync(FILE, 'utf8') !== printed)
    problems.push('openapi.json differs from the generated one: run `npm run build` and review the change');
  if (existsSync(PUBLISHED)) {
    const changes = breakingRestChanges(JSON.parse(readFileSync(PUBLISHED, 'utf8')), document);
    problems.push(...changes.map((change) => `breaks clients of openapi.published.json: ${change}`));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} else {
  writeFileSync(FILE, printed);
  console.log('openapi.json written');
  if (process.argv.includes('--publish')) {
    writeFileSync(PUBLISHED, printed);
    console.log('openapi.published.json written');
  }
}
