import { PACKAGES, readName } from './packages.ts';

const REGISTRIES = {
  'package.json': 'npm',
  'pyproject.toml': 'PyPI',
  'composer.json': 'Packagist',
  'pom.xml': 'Maven',
  'go.mod': 'Go',
} as const;

/** The name of a package where its ecosystem looks for it. */
export interface PackageName {
  readonly registry: (typeof REGISTRIES)[keyof typeof REGISTRIES];
  readonly name: string;
  /** The manifest, which alone states it. */
  readonly file: string;
}

/** Reads the names of all packages from their manifests. @param read returns the text of a file of the project */
export function packageNames(read: (path: string) => string): PackageName[] {
  return PACKAGES.map(({ folder, manifest }) => {
    const file = `${folder}/${manifest}`;
    return { registry: REGISTRIES[manifest], name: readName(manifest, read(file)), file };
  });
}

/**
 * Says of each name where it is stated, and how a person changes it at a release.
 * @param filesWith finds the files of clients/ and test/ that contain a text
 */
export function nameLines(names: readonly PackageName[], filesWith: (text: string) => readonly string[]): string[] {
  return names.map(({ registry, name, file }) => {
    // The other names are words that occur everywhere.
    if (registry !== 'Go' && registry !== 'Maven') return `${registry}: ${name} (${file})`;
    const others = filesWith(name).filter((each) => each !== file);
    const change = `git grep -lF '${name}' clients test | xargs sed -i 's|${name}|<new name>|g'`;
    const named = others.length === 0 ? '' : `, named in ${others.join(', ')}: ${change}`;
    return `${registry}: ${name} (${file}${registry === 'Maven' ? ', groupId and artifactId' : ''}${named})`;
  });
}

/** Says which names nobody can publish or fetch as they are. */
export function unusableNames(names: readonly PackageName[]): string[] {
  return names.flatMap(({ registry, name, file }) => {
    if (registry === 'Go' && /^[\w.-]+\.example\//.test(name))
      return [`${file}: ${name} is at no real host: put the path of the repository there`];
    if (registry === 'Maven' && !/^[^:]+\./.test(name))
      return [`${file}: the group of ${name} is no domain, which Maven Central wants: put one there that you own`];
    return [];
  });
}
