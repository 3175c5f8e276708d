import { DOMParser } from '@xmldom/xmldom';

/** A package of clients/ and the file of its folder that describes it. */
export interface Package {
  readonly folder: string;
  readonly manifest: 'package.json' | 'pyproject.toml' | 'composer.json' | 'go.mod' | 'pom.xml';
  /** Its archive's name without the version; null where the ecosystem's tool names it. */
  readonly archive: string | null;
}

export const PACKAGES: readonly Package[] = [
  { folder: 'clients/typescript', manifest: 'package.json', archive: null },
  { folder: 'clients/live', manifest: 'package.json', archive: null },
  { folder: 'clients/cli', manifest: 'package.json', archive: null },
  { folder: 'clients/python', manifest: 'pyproject.toml', archive: null },
  { folder: 'clients/php', manifest: 'composer.json', archive: 'fatoura-client-php' },
  { folder: 'clients/java', manifest: 'pom.xml', archive: 'fatoura-client-java' },
  { folder: 'clients/go', manifest: 'go.mod', archive: 'fatoura-client-go' },
];

/** The statements of a manifest; null for a missing one. */
export interface Stated {
  readonly version: string | null;
  readonly licence: string | null;
}

/**
 * Reads a manifest of a source folder, or METADATA or PKG-INFO of a Python package.
 * @param name of the file, without folders @returns null for any other file
 * @throws Error if the text is no such manifest
 */
export function readManifest(name: string, text: string): Stated | null {
  const first = (pattern: RegExp): string | null => pattern.exec(text)?.[1] ?? null;
  switch (name) {
    case 'package.json':
    case 'composer.json': {
      const { version = null, license = null } = JSON.parse(text);
      return { version, licence: license };
    }
    case 'pyproject.toml': {
      const project = /^\[project\]\n((?:(?!\[).*\n?)*)/m.exec(text)?.[1] ?? '';
      const value = (key: string) => new RegExp(`^${key} = "([^"]*)"$`, 'm').exec(project)?.[1] ?? null;
      return { version: value('version'), licence: value('license') };
    }
    case 'METADATA':
    case 'PKG-INFO':
      return { version: first(/^Version: (.+)$/m), licence: first(/^License-Expression: (.+)$/m) };
    case 'pom.xml': {
      const project = new DOMParser().parseFromString(text, 'text/xml').documentElement;
      const child = (of: typeof project, tag: string) =>
        Array.from(of?.childNodes ?? []).find(({ nodeName }) => nodeName === tag) as typeof project;
      const textOf = (of: typeof project) => of?.textContent?.trim() || null;
      const licence = child(child(child(project, 'licenses'), 'license'), 'name');
      return { version: textOf(child(project, 'version')), licence: textOf(licence) };
    }
    case 'go.mod':
      return { version: null, licence: null };
    default:
      return null;
  }
}

/**
 * Reads the name of a package from its manifest: Maven's with its group, Go's as a path.
 * @throws Error if it has none
 */
export function readName(manifest: Package['manifest'], text: string): string {
  const value = (pattern: RegExp) => pattern.exec(text)?.[1];
  const names = {
    'package.json': () => JSON.parse(text).name,
    'composer.json': () => JSON.parse(text).name,
    'pyproject.toml': () => value(/^name = "([^"]+)"$/m),
    // Of the project, whose elements come before those of its dependencies.
    'pom.xml': () => [value(/<groupId>([^<]+)</), value(/<artifactId>([^<]+)</)].join(':'),
    'go.mod': () => value(/^module (\S+)$/m),
  };
  const name: string | undefined = names[manifest]();
  if (!name) throw new Error(`a ${manifest} has no name`);
  return name;
}

/** Whether packages of this kind have the version of their tag, as Packagist and Go read it. */
export const isVersionedByTag = (manifest: string): boolean => manifest === 'composer.json' || manifest === 'go.mod';

/**
 * Returns the project's licence in the form of a manifest; null for go.mod, which has no field for it.
 * @param licence as in package.json
 */
export function licenceIn(manifest: string, licence: string): string | null {
  if (manifest === 'go.mod') return null;
  if (licence !== 'UNLICENSED') return licence;
  if (manifest === 'composer.json') return 'proprietary';
  return /^(?:pyproject\.toml|METADATA|PKG-INFO)$/.test(manifest) ? 'LicenseRef-UNLICENSED' : licence;
}
