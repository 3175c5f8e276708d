// Writes the generated files of the clients, most of them from `openapi.json`. With --check, fails if a committed file
// differs.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema } from 'graphql';
import { SELECTIONS } from '../clients/typescript/src/selections.ts';
import { brunoCollection } from './client-collections/bruno.ts';
import { postmanCollection } from './client-collections/postman.ts';
import { goModels } from './client-models/go.ts';
import { javaModels } from './client-models/java.ts';
import { phpModels } from './client-models/php.ts';
import { pythonModels } from './client-models/python.ts';
import { pythonAsync } from './client-models/python-async.ts';
import { typescriptModels } from './client-models/typescript.ts';
import { typescriptResults } from './client-models/typescript-results.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COLLECTIONS = 'clients/collections';
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const document = JSON.parse(read('openapi.json'));

const FILES: Readonly<Record<string, string>> = {
  'clients/go/models.go': goModels(document.components.schemas),
  'clients/java/src/main/java/fatoura/Models.java': javaModels(document.components.schemas),
  'clients/php/src/Models.php': phpModels(document.components.schemas),
  'clients/python/src/fatoura/_async_resources.py': pythonAsync(read('clients/python/src/fatoura/_resources.py')),
  'clients/python/src/fatoura/models.py': pythonModels(document.components.schemas),
  'clients/typescript/src/models.ts': typescriptModels(document.components.schemas),
  'clients/typescript/src/results.ts': typescriptResults(
    buildSchema(read('schema.graphql')),
    SELECTIONS,
    new Set(Object.keys(document.components.schemas)),
  ),
  ...inFolder(`${COLLECTIONS}/bruno`, brunoCollection(document)),
  ...inFolder(`${COLLECTIONS}/postman`, postmanCollection(document)),
};
/** Files of requests that the document does not have any more. */
const LEFT = globSync(`${COLLECTIONS}/{bruno,postman}/**/*.*`, { cwd: ROOT }).filter((file) => !(file in FILES));

function inFolder(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, printed]) => [`${folder}/${name}`, printed]));
}

if (process.argv.includes('--check')) {
  const different = Object.entries(FILES).filter(
    ([file, printed]) => !existsSync(join(ROOT, file)) || read(file) !== printed,
  );
  for (const file of [...different.map(([file]) => file), ...LEFT]) {
    console.error(`${file} differs from the generated one: run \`npm run build\` and review the change`);
    process.exitCode = 1;
  }
} else {
  for (const file of LEFT) rmSync(join(ROOT, file));
  for (const [file, printed] of Object.entries(FILES)) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), printed);
    console.log(`${file} written`);
  }
}
