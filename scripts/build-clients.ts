// Writes the models of the clients from `openapi.json`. With --check, fails if a committed file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { goModels } from './client-models/go.ts';
import { typescriptModels } from './client-models/typescript.ts';

const ROOT = new URL('../', import.meta.url);
const document = JSON.parse(readFileSync(new URL('openapi.json', ROOT), 'utf8'));

const FILES: Readonly<Record<string, string>> = {
  'clients/go/models.go': goModels(document.components.schemas),
  'clients/typescript/src/models.ts': typescriptModels(document.components.schemas),
};

for (const [file, printed] of Object.entries(FILES)) {
  const path = new URL(file, ROOT);
  if (!process.argv.includes('--check')) {
    writeFileSync(path, printed);
    console.log(`${file} written`);
  } else if (readFileSync(path, 'utf8') !== printed) {
    console.error(`${file} differs from the generated one: run \`npm run build\` and review the change`);
    process.exitCode = 1;
  }
}
