import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Whether a program is on the PATH. Tests that need an optional program are skipped without it. Each test file calls
 * this itself, never through a helper: `.ci/run`, whose first run has neither Chromium, xmlsec1 nor poppler, finds by
 * this call the files to repeat with them.
 */
export function hasTool(name: string): boolean {
  return toolPath(name) !== null;
}

/** Returns the path of a program on the PATH; null if there is none. */
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
