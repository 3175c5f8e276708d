import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DeploymentFiles } from './deployment-files.ts';

/** Objects that are not part of Kubernetes' API. */
const OTHERS = ['Kustomization'];

/**
 * Compares the objects with the types of Kubernetes' API, which are generated from its OpenAPI description. TypeScript
 * rejects unknown fields, values of another type, and missing fields; a cluster ignores misspelt fields.
 * @param root the folder with the packages
 * @returns the problems, `file: kind name: what`
 */
export async function kubernetesProblems(root: string, { objects }: DeploymentFiles): Promise<string[]> {
  const known = objects.filter(({ object }) => !OTHERS.includes(object.kind));
  const folder = await mkdtemp(join(tmpdir(), 'kubernetes-'));
  try {
    const options = {
      noEmit: true,
      strict: true,
      module: 'nodenext',
      skipLibCheck: true,
      types: [],
      paths: { 'kubernetes-models/*': [join(root, 'node_modules/kubernetes-models/*/index.d.ts')] },
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    // One line per object, so that the line number of an error identifies the object.
    const lines = known.map(({ object }) => {
      const type = `import('kubernetes-models/${object.apiVersion}').I${object.kind}`;
      return `(${JSON.stringify(object)}) satisfies ${type};`;
    });
    await writeFile(join(folder, 'objects.ts'), lines.join('\n'));
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--project', '.', '--pretty', 'false'];
    // The error of a failed run contains the output, too.
    const ended = await promisify(execFile)(process.execPath, tsc, { cwd: folder }).catch((error) => error);
    const problems = [...ended.stdout.matchAll(/^objects\.ts\((\d+),\d+\): error TS\d+: (.*)$/gm)].map(
      ([, line, what]) => {
        const { file, object } = known[Number(line) - 1] ?? { file: '', object: {} };
        return `${file}: ${object.kind} ${object.metadata?.name}: ${what}`;
      },
    );
    if (ended instanceof Error && problems.length === 0) throw ended;
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
