import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const RECORDER = `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*\\/node_modules\\/)/.exec(url)?.[1];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    },
  });`;

/**
 * Runs a module in its own process.
 * @param code statements of the module, which import by address
 * @returns the npm packages that the process has loaded at the end
 */
export async function packagesLoadedBy(code: string): Promise<string[]> {
  const program = `${RECORDER}\n${code}\nprocess.stdout.write(JSON.stringify([...loaded]));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout) as string[];
}
