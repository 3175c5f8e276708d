import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCli } from '../build-cli.ts';
import type { Benchmark, Side } from './harness.ts';

const run = promisify(execFile);

/** Starts of the built command `fatoura` without a request, one after the other. */
export const benchmark: Benchmark = {
  name: 'command',
  about: 'start to end of `fatoura --version`; the peer is a Node process with an empty program',
  sides: [
    side('fatoura --version', async (folder) => {
      await buildCli(fileURLToPath(new URL('../..', import.meta.url)), join(folder, 'dist'));
      return [join(folder, 'dist/fatoura.js'), '--version'];
    }),
    side('bare Node', async (folder) => {
      const program = join(folder, 'empty.js');
      await writeFile(program, '');
      return [program];
    }),
  ],
  answers: 'incomparable',
};

/** `build` puts the program into the folder and returns the arguments of Node. */
function side(name: string, build: (folder: string) => Promise<readonly string[]>): Side {
  let folder = '';
  let args: readonly string[] = [];
  return {
    name,
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'fatoura-bench-'));
      args = await build(folder);
    },
    async run({ quick }) {
      const times: number[] = [];
      for (let i = 0; i < (quick ? 5 : 20); i++) {
        const start = performance.now();
        await run(process.execPath, args);
        times.push(performance.now() - start);
      }
      return { latencies: { 'start → end': times } };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
