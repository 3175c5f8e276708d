import { isVersionedByTag, licenceIn, readManifest } from './packages.ts';

/** The problems that prevent a release, and the tasks of a person before it. */
export interface Findings {
  readonly problems: readonly string[];
  readonly remaining: readonly string[];
}

/** The state of the repository. */
export interface Tree {
  /** Output of `git status --porcelain`. */
  readonly status: string;
  readonly head: string;
  /** The commit of the version's tag; null if there is none. */
  readonly tagged: string | null;
}

/** Compares the tree with the version: nothing is uncommitted, and a tag of the version names this commit. */
export function checkTree({ status, head, tagged }: Tree, version: string): Findings {
  const changed = status.split('\n').filter((line) => line !== '');
  const problems = changed.length === 0 ? [] : [`the tree is not clean: ${changed.join(', ')}`];
  if (tagged !== null && tagged !== head)
    problems.push(
      `v${version} is the commit ${tagged.slice(0, 8)}, and this is ${head.slice(0, 8)}: raise the version`,
    );
  return { problems, remaining: tagged === null ? [`no tag v${version} yet`] : [] };
}

/** A manifest of the sources: its path and its text. */
export interface Manifest {
  readonly path: string;
  readonly text: string;
}

/** Compares manifests with the project's version and licence. Problems name the file. */
export function checkManifest({ path, text }: Manifest, version: string, licence: string): string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const stated = readManifest(name, text);
  if (stated === null) return [`${path} is no manifest`];
  const problems: string[] = [];
  if (stated.version === null && !isVersionedByTag(name)) problems.push(`${path} states no version`);
  if (stated.version !== null && stated.version !== version)
    problems.push(`${path} has the version ${stated.version}, package.json ${version}`);
  const expected = licenceIn(name, licence);
  if (stated.licence !== expected)
    problems.push(
      `${path} has ${stated.licence === null ? 'no licence' : `the licence ${stated.licence}`}, not ${expected}`,
    );
  return problems;
}

/**
 * Looks for the version's entry in the changelog: under its heading, or among the unreleased changes, which become this
 * version.
 */
export function checkChangelog(text: string, version: string): Findings {
  const sections = text.split(/^## /m).slice(1);
  const named = sections.find((section) => section.startsWith(`[${version}]`));
  const hasEntries = (section: string) => /^- /m.test(section);
  if (named !== undefined) {
    const problems = hasEntries(named) ? [] : [`CHANGELOG.md: ${version} has no entries`];
    if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/m.test(named.split('\n')[0] ?? ''))
      problems.push(`CHANGELOG.md: the heading of ${version} has no day`);
    return { problems, remaining: [] };
  }
  const coming = sections.find((section) => section.startsWith('[Unreleased]'));
  if (coming?.includes(`What will be ${version}.`) && hasEntries(coming))
    return { problems: [], remaining: [`CHANGELOG.md has ${version} under "Unreleased": give it its heading and day`] };
  return { problems: [`CHANGELOG.md has no entry for ${version}`], remaining: [] };
}
