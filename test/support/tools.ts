import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Whether a program is on the PATH. What needs one that a machine may lack is skipped without it. A test file asks this
 * itself, and no helper does it for it: `.ci/run`, whose first run has neither Chromium, xmlsec1 nor poppler, finds by
 * this call which files to repeat with them.
 */
export function hasTool(name: string): boolean {
  return toolPath(name) !== null;
}

/** The path of a program on the PATH; null where there is none. */
export function toolPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
