import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  type DefinitionNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';
import { createGate, type Gate } from './gate.ts';

/** The operations that clients may request by digest: the texts, by their SHA-256 in lower-case hexadecimal. */
export type OperationList = ReadonlyMap<string, string>;

/**
 * Reads an operation list made by {@link makeOperationList} or another tool: a JSON object of texts by digest.
 * @throws {Error} that names the file and the fault: a digest that does not match, or an operation that the gate
 * refuses
 */
export async function readOperationList(file: string): Promise<OperationList> {
  const problem = (what: string) => new Error(`GRAPHQL_OPERATIONS: ${file} ${what}`);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw problem(`cannot be read: ${error.code}`);
  });
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw problem('is not JSON');
  }
  if (typeof list !== 'object' || list === null || Array.isArray(list)) throw problem('must be a JSON object');
  const gate = createGate({ introspection: true });
  const operations = new Map(Object.entries(list));
  for (const [digest, operation] of operations) {
    if (typeof operation !== 'string' || digestOf(operation) !== digest)
      throw problem(`must map SHA-256 digests to texts; ${digest.slice(0, 80)} is not the digest of its text`);
    const refusal = refusalOf(gate, operation);
    if (refusal) throw problem(`contains an operation that cannot run, ${digest.slice(0, 12)}…: ${refusal}`);
  }
  return operations;
}

/** A file with operations, fragments or both. */
export interface OperationFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Makes the list of all operations in these files. Each text includes the fragments that it spreads, from any of the
 * files.
 * @throws {Error} that names the file and the fault: syntax, a duplicate fragment, or an operation that the gate
 * refuses
 */
export function makeOperationList(files: readonly OperationFile[]): OperationList {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations: { readonly file: string; readonly operation: OperationDefinitionNode }[] = [];
  for (const { name, text } of files) {
    for (const definition of definitionsOf(name, text)) {
      if (definition.kind === Kind.OPERATION_DEFINITION) operations.push({ file: name, operation: definition });
      else if (definition.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`${name}: only operations and fragments.`);
      else if (fragments.has(definition.name.value))
        throw new Error(`${name}: fragment ${definition.name.value} is defined twice.`);
      else fragments.set(definition.name.value, definition);
    }
  }
  const gate = createGate({ introspection: true });
  return new Map(
    operations.map(({ file, operation }) => {
      const text = print({ kind: Kind.DOCUMENT, definitions: [operation, ...spreadBy(operation, fragments)] });
      const refusal = refusalOf(gate, text);
      if (refusal) throw new Error(`${file}: ${operation.name?.value ?? operation.operation}: ${refusal}`);
      return [digestOf(text), text] as const;
    }),
  );
}

export function digestOf(text: string): string {
  return hash('sha256', text);
}

function definitionsOf(name: string, text: string): readonly DefinitionNode[] {
  try {
    return parse(text).definitions;
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

function refusalOf(gate: Gate, text: string): string | null {
  try {
    return gate.validate(gate.parse(text))[0]?.message ?? null;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** Returns the fragments that a definition spreads, directly or indirectly, sorted by name. */
function spreadBy(
  definition: DefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FragmentDefinitionNode[] {
  const needed = new Map<string, FragmentDefinitionNode>();
  const follow = (from: DefinitionNode): void => {
    visit(from, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value);
        if (!fragment || needed.has(value)) return;
        needed.set(value, fragment);
        follow(fragment);
      },
    });
  };
  follow(definition);
  return [...needed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, fragment]) => fragment);
}
