import { isDeepStrictEqual } from 'node:util';

/** A part of an OpenAPI document. */
type Part = { readonly [member: string]: Part } & { readonly $ref?: string };

/** Who reads a value: the service, which must continue to accept it, or a client, which must continue to receive it. */
type Reader = 'service' | 'client';

/** Limits of a value. The function tells whether the change from one number to the other makes the range smaller. */
const LIMITS: Readonly<Record<string, (before: number, after: number) => boolean>> = {
  maxLength: isLower,
  maximum: isLower,
  maxItems: isLower,
  maxProperties: isLower,
  minLength: isHigher,
  minimum: isHigher,
  minItems: isHigher,
};
/** Further conditions on a value. A client need not know them. */
const CONDITIONS = ['pattern', 'uniqueItems', 'not', 'propertyNames'];

function isLower(before: number, after: number): boolean {
  return after < before;
}

function isHigher(before: number, after: number): boolean {
  return after > before;
}

/**
 * Finds the changes from a published OpenAPI document to the present one that break clients: an operation, parameter,
 * status, header or member was removed or renamed; the service accepts less, or requires more; an answer or event has
 * other types, other values of a closed set, or may lack a member that it always had. New members of answers, new
 * optional members of requests, and growing open sets break nothing.
 * @returns a line for each
 */
export function breakingRestChanges(published: object, present: object): string[] {
  const changes: string[] = [];
  const compared = new Set<string>();
  const [before, after] = [published as Part, present as Part];
  const resolvedIn = (document: Part, part: Part | undefined): Part | undefined => {
    if (part?.$ref === undefined) return part;
    return resolvedIn(document, String(part.$ref).split('/').slice(1).reduce(memberOf, document) as Part);
  };
  const old = (part: Part | undefined): Part => resolvedIn(before, part) ?? ({} as Part);
  const now = (part: Part | undefined): Part | undefined => resolvedIn(after, part);

  compareOperations(before.paths, after.paths, 'service', 'client');
  compareOperations(before.webhooks, after.webhooks, 'client', 'service');
  return changes;

  function compareOperations(olds: Part | undefined, news: Part | undefined, asked: Reader, answered: Reader): void {
    for (const [path, methods] of entriesOf(olds))
      for (const [method, operation] of entriesOf(methods)) {
        const where = `${method.toUpperCase()} ${path}`;
        const successor = news?.[path]?.[method];
        if (!successor) changes.push(`${where} is gone`);
        else {
          compareParameters(operation, successor, where, asked);
          compareContent(old(operation.requestBody), now(successor.requestBody), `${where}, body`, asked);
          compareAnswers(operation.responses, successor.responses, where, answered);
        }
      }
  }

  function compareParameters(operation: Part, successor: Part, where: string, reader: Reader): void {
    const olds = byName(partsOf(operation.parameters).map(old));
    const news = byName(partsOf(successor.parameters).flatMap((each) => now(each) ?? []));
    for (const [name, parameter] of olds) {
      const present = news.get(name);
      if (!present) changes.push(`${where}, ${name} is gone`);
      else compareMember(parameter, present, `${where}, ${name}`, reader);
    }
    for (const [name, parameter] of news)
      if (reader === 'service' && !olds.has(name) && parameter.required) changes.push(`${where}, ${name} is required`);
  }

  function compareAnswers(olds: Part | undefined, news: Part | undefined, where: string, reader: Reader): void {
    for (const [status, answer] of entriesOf(olds)) {
      const [was, is] = [old(answer), now(news?.[status])];
      const at = `${where}, ${status}`;
      if (is) {
        for (const [name, header] of entriesOf(was.headers)) {
          const present = now(is.headers?.[name]);
          if (!present) changes.push(`${at}, ${name} is gone`);
          else compareMember(old(header), present, `${at}, ${name}`, reader);
        }
        compareContent(was, is, at, reader);
      } else changes.push(`${at} is gone`);
    }
  }

  /** Compares two parameters or headers. */
  function compareMember(was: Part, is: Part, where: string, reader: Reader): void {
    compareRequirement(Boolean(was.required), Boolean(is.required), where, reader);
    compareSchemas(was.schema, is.schema, where, reader);
  }

  function compareContent(was: Part, is: Part | undefined, where: string, reader: Reader): void {
    if (is) compareRequirement(Boolean(was.required), Boolean(is.required), where, reader);
    for (const [type, { schema }] of entriesOf(was.content)) {
      const present = is?.content?.[type];
      if (!present) changes.push(`${where}, ${type} is gone`);
      else compareSchemas(schema, present.schema, where, reader);
    }
  }

  function compareRequirement(was: boolean, is: boolean, where: string, reader: Reader): void {
    if (reader === 'service' && is && !was) changes.push(`${where} is required`);
    if (reader === 'client' && was && !is) changes.push(`${where} may be absent`);
  }

  function compareSchemas(wasAt: Part | undefined, isAt: Part | undefined, where: string, reader: Reader): void {
    if (wasAt?.$ref !== undefined) {
      // Compares a type that occurs in several places once. This also ends the comparison of recursive types.
      const both = `${wasAt.$ref} ${isAt?.$ref ?? where} ${reader}`;
      if (compared.has(both)) return;
      compared.add(both);
    }
    const [was, is] = [old(wasAt), now(isAt) ?? ({} as Part)];
    compareSets('types', typesOf(was), typesOf(is), where, reader);
    compareSets('values', valuesOf(was), valuesOf(is), where, reader);
    if (was.format !== undefined && was.format !== is.format) changes.push(`${where} has another format`);
    if (reader === 'service') compareLimits(was, is, where);
    compareMembers(was, is, where, reader);
    if (was.items) compareSchemas(was.items, is.items, `${where}[]`, reader);
    if (typeof was.additionalProperties === 'object')
      compareSchemas(was.additionalProperties, is.additionalProperties, `${where}.*`, reader);
  }

  function compareSets(what: string, was: Values, is: Values, where: string, reader: Reader): void {
    const [promised, kept] = reader === 'service' ? [was, is] : [is, was];
    // Without a restriction every value is allowed, so none is lost.
    if (kept === null || isDeepStrictEqual(was, is)) return;
    const lost = promised?.filter((each) => !kept.includes(each)) ?? ['any'];
    const said = reader === 'service' ? `no longer takes the ${what}` : `may have the ${what}`;
    if (lost.length > 0) changes.push(`${where} ${said} ${lost.join(', ')}`);
  }

  function compareLimits(was: Part, is: Part, where: string): void {
    for (const [name, isNarrower] of Object.entries(LIMITS)) {
      const [from, to] = [was[name], is[name]] as unknown as (number | undefined)[];
      if (to !== undefined && (from === undefined || isNarrower(from, to)))
        changes.push(`${where} has the ${name} ${to}, not ${from ?? 'none'}`);
    }
    for (const name of CONDITIONS)
      if (is[name] !== undefined && !isDeepStrictEqual(was[name], is[name]))
        changes.push(`${where} has another ${name}`);
    if (isClosed(is) && !isClosed(was)) changes.push(`${where} no longer takes other members`);
  }

  function compareMembers(was: Part, is: Part, where: string, reader: Reader): void {
    const [needed, needs] = [was, is].map(({ required }) => partsOf(required) as unknown as string[]);
    for (const [name, member] of entriesOf(was.properties)) {
      const present = is.properties?.[name];
      if (!present) changes.push(`${where}.${name} is gone`);
      else {
        compareRequirement(needed?.includes(name) ?? false, needs?.includes(name) ?? false, `${where}.${name}`, reader);
        compareSchemas(member, present, `${where}.${name}`, reader);
      }
    }
    if (reader !== 'service') return;
    for (const name of needs ?? []) if (!was.properties?.[name]) changes.push(`${where}.${name} is required`);
  }
}

/** The values of a set; null: any value. */
type Values = readonly unknown[] | null;

function typesOf({ type }: Part): Values {
  if (type === undefined) return null;
  return typeof type === 'string' ? [type] : (type as unknown as unknown[]);
}

function valuesOf(schema: Part): Values {
  if (schema.const !== undefined) return [schema.const];
  return (schema.enum as unknown as unknown[] | undefined) ?? null;
}

function isClosed({ additionalProperties }: Part): boolean {
  return (additionalProperties as unknown) === false;
}

function memberOf(part: Part | undefined, name: string): Part | undefined {
  return part?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
}

function entriesOf(part: Part | undefined): [name: string, part: Part][] {
  return Object.entries(part ?? {}) as [name: string, part: Part][];
}

function partsOf(list: Part | undefined): readonly Part[] {
  return (list as unknown as readonly Part[] | undefined) ?? [];
}

function byName(parameters: readonly Part[]): Map<string, Part> {
  return new Map(parameters.map((each) => [`${each.in} parameter ${each.name}`, each]));
}
