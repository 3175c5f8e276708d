import {
  buildASTSchema,
  type DocumentNode,
  findBreakingChanges,
  GraphQLDeprecatedDirective,
  type GraphQLNamedType,
  type GraphQLSchema,
  getDirectiveValues,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  parse,
  visit,
} from 'graphql';

/**
 * An element of a schema with its coordinate: `Invoice`, `Invoice.number`, `Query.invoice(id:)`,
 * `InvoiceStatus.accepted`.
 */
interface Element {
  readonly coordinate: string;
  readonly description?: string | null | undefined;
  readonly deprecationReason?: string | null | undefined;
}

const MONTHS = 12;
const REASON = /^Use `([^`]+)` instead\. Deprecated (\d{4}-\d{2}-\d{2}), gone after (\d{4}-\d{2}-\d{2})\.$/;

/**
 * Violations of the schema policy: every element has a description, and a deprecated element names its successor and
 * stays for at least 12 months. The reason must have the form "Use `SUCCESSOR` instead. Deprecated 2026-12-01, gone
 * after 2027-12-01."; a successor in the same type is given by its name alone. @returns a line for each violation
 */
export function policyViolations(schema: GraphQLSchema): string[] {
  const elements = elementsOf(schema);
  const coordinates = new Set(elements.map(({ coordinate }) => coordinate));
  return elements.flatMap(({ coordinate, description, deprecationReason }) => {
    const violations: string[] = [];
    if (!description?.trim()) violations.push(`${coordinate} has no description`);
    if (deprecationReason != null) {
      const violation = deprecationViolation(coordinate, deprecationReason, coordinates);
      if (violation) violations.push(`${coordinate} is deprecated, and its reason ${violation}`);
    }
    return violations;
  });
}

function deprecationViolation(coordinate: string, reason: string, coordinates: ReadonlySet<string>): string | null {
  const [, successor = '', since = '', until = ''] = REASON.exec(reason) ?? [];
  if (!successor) return 'is not of the form "Use `SUCCESSOR` instead. Deprecated DATE, gone after DATE."';
  const inSameType = `${coordinate.replace(/\([^)]*\)$/, '').replace(/[^.]*$/, '')}${successor}`;
  if (!coordinates.has(successor) && !coordinates.has(inSameType)) return `names ${successor}, which does not exist`;
  const end = new Date(since);
  end.setUTCMonth(end.getUTCMonth() + MONTHS);
  return new Date(until) >= end ? null : `gives less than ${MONTHS} months`;
}

function elementsOf(schema: GraphQLSchema): Element[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  return [
    ...types.flatMap(elementsOfType),
    ...directives.map(({ name, description }) => ({ coordinate: `@${name}`, description })),
  ];
}

function elementsOfType(type: GraphQLNamedType): Element[] {
  const own = { coordinate: type.name, description: type.description };
  const of = <Part extends { name: string }>(part: Part) => ({ ...part, coordinate: `${type.name}.${part.name}` });
  if (isEnumType(type)) return [own, ...type.getValues().map(of)];
  if (isInputObjectType(type)) return [own, ...Object.values(type.getFields()).map(of)];
  if (!isObjectType(type) && !isInterfaceType(type)) return [own];
  return [
    own,
    ...Object.values(type.getFields()).flatMap((field) => [
      of(field),
      ...field.args.map((arg) => ({ ...arg, coordinate: `${type.name}.${field.name}(${arg.name}:)` })),
    ]),
  ];
}

/**
 * Finds the changes from the published schema to the current one that break clients. Elements that were deprecated
 * there and whose period has ended may be removed.
 * @param published in the schema definition language
 * @returns a line for each breaking change
 */
export function breakingChanges(published: string, present: GraphQLSchema, today: Date): string[] {
  const before = buildASTSchema(withoutExpired(parse(published), today));
  return findBreakingChanges(before, present).map(({ description }) => description);
}

function withoutExpired(document: DocumentNode, today: Date): DocumentNode {
  const unlessExpired = (node: Parameters<typeof getDirectiveValues>[1]) => {
    const reason = getDirectiveValues(GraphQLDeprecatedDirective, node)?.reason;
    const until = typeof reason === 'string' ? REASON.exec(reason)?.[3] : undefined;
    return until !== undefined && new Date(until) < today ? null : undefined;
  };
  return visit(document, {
    FieldDefinition: unlessExpired,
    InputValueDefinition: unlessExpired,
    EnumValueDefinition: unlessExpired,
  });
}
