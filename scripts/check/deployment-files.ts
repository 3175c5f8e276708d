import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const COMPOSE = 'docker-compose.yml';
export const DOCKERFILE = 'Dockerfile';
export const UNIT = 'deploy/fatoura.service';
export const HAPROXY = 'deploy/haproxy/haproxy.cfg';
export const KUBERNETES = 'deploy/kubernetes';

/** A file of the project as text, by its path. */
export type Read = (path: string) => string;

// biome-ignore lint/suspicious/noExplicitAny: the schemas decide what these documents hold
export type Document = any;

export interface DeploymentFiles {
  readonly compose: Document;
  /** The objects of Kubernetes with their file. */
  readonly objects: readonly { readonly file: string; readonly object: Document }[];
  readonly dockerfile: readonly Instruction[];
  /** `Section.Key` with its values, in order. */
  readonly unit: ReadonlyMap<string, readonly string[]>;
  readonly haproxy: string;
}

/** An instruction of a Dockerfile, continued lines joined. */
export interface Instruction {
  readonly name: string;
  readonly words: string;
}

export function readFrom(root: string): Read {
  return (path) => readFileSync(join(root, path), 'utf8');
}

/** @throws when a file is missing or is no YAML; the message names it */
export function readDeployment(root: string, read: Read): DeploymentFiles {
  const manifests = readdirSync(join(root, KUBERNETES)).map((name) => `${KUBERNETES}/${name}`);
  return {
    compose: named(COMPOSE, () => parse(read(COMPOSE), { merge: true })),
    objects: manifests.flatMap((file) =>
      named(file, () =>
        parseAllDocuments(read(file)).map((document) => {
          const [error] = document.errors;
          if (error) throw error;
          return { file, object: document.toJS() };
        }),
      ),
    ),
    dockerfile: instructionsOf(read(DOCKERFILE)),
    unit: unitOf(read(UNIT)),
    haproxy: read(HAPROXY),
  };
}

function named<T>(file: string, parsed: () => T): T {
  try {
    return parsed();
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

function instructionsOf(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', words = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name, words };
    });
}

function unitOf(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  let section = '';
  for (const line of text.split('\n')) {
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section;
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    values.set(`${section}.${key}`, [...(values.get(`${section}.${key}`) ?? []), value]);
  }
  return values;
}

/** `A=1 B=` → `{ A: '1', B: '' }`; values have no spaces here. */
export function assignments(words: string): Record<string, string> {
  return Object.fromEntries(
    words.split(/\s+/).flatMap((word) => {
      const [, name, value] = /^([A-Z_0-9]+)=(.*)$/.exec(word) ?? [];
      return name === undefined ? [] : [[name, value ?? '']];
    }),
  );
}
