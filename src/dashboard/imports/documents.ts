import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of imports. */
export const IMPORTS = graphql(`
  query Imports($first: Int, $last: Int, $after: String, $before: String) {
    imports(first: $first, last: $last, after: $after, before: $before) {
      nodes { id fileName status createdAt createdBy { name } counts { invoices } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ListedImport = ResultOf<typeof IMPORTS>['imports']['nodes'][number];

/** An import, without its invoices. */
export const IMPORT = graphql(`
  query Import($id: ID!) {
    import(id: $id) {
      id
      fileName
      ...Progress
      reading {
        format sheet otherSheets encoding separator decimalSign dateOrder dateSystem headerRow rows language missing privateCustomers
        columns { index header key field mayBe result }
        ignoredRows { row reason }
      }
    }
  }
  fragment Progress on Import {
    round
    status
    settled
    failure { code message }
    counts { invoices ready faulty known issued refused accepted rejected }
  }
`);

export type Imported = ResultOf<typeof IMPORT>['import'];
export type Reading = NonNullable<Imported['reading']>;

export const IMPORT_PROGRESS = graphql(`
  subscription ImportProgress($id: ID!) {
    importProgress(id: $id) { ...Progress }
  }
  fragment Progress on Import {
    round
    status
    settled
    failure { code message }
    counts { invoices ready faulty known issued refused accepted rejected }
  }
`);

export type ImportProgress = ResultOf<typeof IMPORT_PROGRESS>['importProgress'];

/** A page of the invoices of a file. */
export const IMPORTED_INVOICES = graphql(`
  query ImportedInvoices(
    $id: ID!, $only: [ImportVerdict!], $first: Int, $last: Int, $after: String, $before: String
  ) {
    import(id: $id) {
      invoices(only: $only, first: $first, last: $last, after: $after, before: $before) {
        nodes {
          id sheet firstRow lastRow label number customerName amount verdict
          problems { row column header value code message }
          warnings { code message }
          invoice { id number status }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`);

export type ImportedInvoice = ResultOf<typeof IMPORTED_INVOICES>['import']['invoices']['nodes'][number];

export const START_IMPORT = graphql(`
  mutation StartImport($id: ID!, $round: Int) {
    result: startImport(id: $id, round: $round) {
      ... on StartImportPayload { import { id } }
      ... on Error { code message }
    }
  }
`);

export const REMAP_IMPORT = graphql(`
  mutation RemapImport($id: ID!, $columns: [ImportColumnInput!]!, $privateCustomers: Boolean) {
    result: remapImport(id: $id, columns: $columns, privateCustomers: $privateCustomers) {
      ... on RemapImportPayload { import { id } }
      ... on Error { code message }
    }
  }
`);

export const DISCARD_IMPORT = graphql(`
  mutation DiscardImport($id: ID!) {
    result: discardImport(id: $id) {
      ... on DiscardImportPayload { id }
      ... on Error { code message }
    }
  }
`);
