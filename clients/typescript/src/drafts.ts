import { run } from './graphql.ts';
import type { CallOptions, Http } from './http.ts';
import type { Draft, Issued } from './results.ts';
import { SELECTIONS } from './selections.ts';

/** The typed content of an invoice: any members of GraphQL's `InvoiceDraft`. */
export type DraftContent = Draft['content'];

const DRAFT = `draft { ... on ${SELECTIONS.Draft} }`;
const ERROR = '... on Error { code message param status }';
const CREATE = `mutation ($content: DraftContent!) {
  createDraft(content: $content) { ... on CreateDraftPayload { ${DRAFT} } ${ERROR} }
}`;
const READ = `query ($id: ID!) { draft(id: $id) { ... on ${SELECTIONS.Draft} } }`;
const UPDATE = `mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
  updateDraft(id: $id, version: $version, content: $content) { ... on UpdateDraftPayload { ${DRAFT} } ${ERROR} }
}`;
const ISSUE = `mutation ($id: ID!, $version: Int!) {
  issueDraft(id: $id, version: $version) {
    ... on ${SELECTIONS.Issued}
    ${ERROR}
  }
}`;
const DELETE = `mutation ($id: ID!, $version: Int!) {
  deleteDraft(id: $id, version: $version) { ... on DeleteDraftPayload { id } ${ERROR} }
}`;

/** Drafts of invoices: checked by the same rules as a creation, without a number until they are issued. */
export class Drafts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates a draft. The call is repeated only after a 429, because any other repetition could create a second draft.
   */
  async create(content: DraftContent, options: CallOptions = {}): Promise<Draft> {
    const request = { query: CREATE, variables: { content } };
    return (await this.#run<{ draft: Draft }>('createDraft', request, options, false)).draft;
  }

  get(id: string, options: CallOptions = {}): Promise<Draft> {
    return this.#run('draft', { query: READ, variables: { id } }, options, true);
  }

  /** @throws ConflictError (`draft_changed`) if the draft has another version meanwhile */
  async update({ id, version }: Pick<Draft, 'id' | 'version'>, content: DraftContent, options: CallOptions = {}) {
    const request = { query: UPDATE, variables: { id, version, content } };
    return (await this.#run<{ draft: Draft }>('updateDraft', request, options, false)).draft;
  }

  /** Issues a draft as an invoice. Repeated calls issue it once. */
  issue({ id, version }: Pick<Draft, 'id' | 'version'>, options: CallOptions = {}): Promise<Issued> {
    return this.#run('issueDraft', { query: ISSUE, variables: { id, version } }, options, true);
  }

  async delete({ id, version }: Pick<Draft, 'id' | 'version'>, options: CallOptions = {}): Promise<void> {
    await this.#run('deleteDraft', { query: DELETE, variables: { id, version } }, options, false);
  }

  #run<Result>(
    field: string,
    request: { readonly query: string; readonly variables: object },
    options: CallOptions,
    isRepeatable: boolean,
  ): Promise<Result> {
    return run<Result>(this.#http, field, request, { ...options, isRepeatable });
  }
}
