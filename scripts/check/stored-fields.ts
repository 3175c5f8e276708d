import { type GraphQLSchema, isNonNullType, isObjectType } from 'graphql';
import { isNullable, type RecordType, whenAbsent } from '../../src/domain/invoice/field-table.ts';

/**
 * Finds required fields that already stored invoices may lack, because they are new in a published type, or may be null
 * there. Reading such an invoice would fail unless the row of the field has `nullable: true`.
 * @param published the published schema
 * @returns a line for each field
 */
export function unreadableFields(published: GraphQLSchema, type: RecordType): string[] {
  const before = published.getType(type.name);
  const wasRequired = (name: string) => {
    const field = isObjectType(before) ? before.getFields()[name] : undefined;
    return field !== undefined && isNonNullType(field.type);
  };
  return Object.entries(type.fields).flatMap(([name, field]) => {
    const below = 'record' in field ? field.record : 'list' in field ? field.list : null;
    const unreadable =
      before !== undefined &&
      field.input !== undefined &&
      whenAbsent(field) === null &&
      !isNullable(field) &&
      !wasRequired(name);
    const own = `${type.name}.${name} is required, but stored invoices may lack it: add \`nullable: true\` to its row`;
    return [...(unreadable ? [own] : []), ...(below ? unreadableFields(published, below) : [])];
  });
}
