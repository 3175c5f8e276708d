import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkDeployment } from './check/deployment.ts';
import { readDeployment, readFrom } from './check/deployment-files.ts';
import { kubernetesProblems } from './check/kubernetes-fields.ts';

// Checks Dockerfile, docker-compose.yml and deploy/. With --linters also by the installed linters.

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { linters: { type: 'boolean', default: false } } });
const problems = checkDeployment(root);
// Otherwise a file may be missing or unreadable.
if (problems.length === 0) problems.push(...(await kubernetesProblems(root, readDeployment(root, readFrom(root)))));
for (const problem of problems) console.log(problem);
let ok = problems.length === 0;
if (values.linters) {
  console.log(ok ? 'ok       own checks' : 'FAILED   own checks');
  const { runLinters } = await import('./check/deployment-linters.ts');
  ok = (await runLinters(root, (line) => console.log(line))) && ok;
}
process.exitCode = ok ? 0 : 1;
