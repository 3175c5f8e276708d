// Writes what is generated of the clients, most of it from `openapi.json`. With --check, fails if a committed file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { goModels } from './client-models/go.ts';
import { javaModels } from './client-models/java.ts';
import { phpModels } from './client-models/php.ts';
import { pythonModels } from './client-models/python.ts';
import { pythonAsync } from './client-models/python-async.ts';
import { typescriptModels } from './client-models/typescript.ts';

const ROOT = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');
const document = JSON.parse(read('openapi.json'));

const FILES: Readonly<Record<string, string>> = {
  'clients/go/models.go': goModels(document.components.schemas),
  'clients/java/src/main/java/fatoura/Models.java': javaModels(document.components.schemas),
  'clients/php/src/Models.php': phpModels(document.components.schemas),
  'clients/python/src/fatoura/_async_resources.py': pythonAsync(read('clients/python/src/fatoura/_resources.py')),
  'clients/python/src/fatoura/models.py': pythonModels(document.components.schemas),
  'clients/typescript/src/models.ts': typescriptModels(document.components.schemas),
};

for (const [file, printed] of Object.entries(FILES)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(new URL(file, ROOT), printed);
    console.log(`${file} written`);
  } else if (read(file) !== printed) {
    console.error(`${file} differs from the generated one: run \`npm run build\` and review the change`);
    process.exitCode = 1;
  }
}
