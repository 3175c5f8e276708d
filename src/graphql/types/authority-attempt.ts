import type { AttemptOutcome, AttemptPurpose, AuthorityAttempt } from '../../domain/invoice/authority-attempt.ts';
import { FIRST_ATTEMPTS, LAST_ATTEMPTS } from '../../domain/invoice/authority-attempts.ts';
import { isMember } from '../../domain/principal.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { addDocumentFields } from './fiscal-documents.ts';

const PURPOSE_MEANING: Readonly<Record<AttemptPurpose, string>> = {
  submit: 'Submission of the signed invoice.',
  look_up: 'Query whether the authority holds the invoice, and for its decision.',
  receipt: 'Retrieval of the signed receipt of the decision.',
  cleared: 'Retrieval of the document that the authority returns for the invoice.',
};

const AttemptPurposeType = enumOf('AuthorityAttemptPurpose', 'Purpose of a call to the authority.', PURPOSE_MEANING);

const OUTCOME_MEANING: Readonly<Record<AttemptOutcome, string>> = {
  received: 'The authority has received the invoice and has not decided.',
  accepted: 'The authority has accepted the invoice.',
  rejected: 'The authority has rejected the invoice; `message` says why.',
  refused: 'The authority does not take the invoice; `message` says why.',
  conflict: 'The authority holds another document under the id of the invoice. Operators are alerted.',
  not_received: 'The authority has not received the invoice.',
  fetched: 'The document was retrieved and is valid.',
  not_available: 'The authority does not have the document.',
  invalid: 'The document was retrieved and is wrong; `message` says why. Operators are alerted.',
  unknown: 'No usable answer. The service queries the authority before it submits the invoice again.',
};

const AttemptOutcomeType = enumOf(
  'AuthorityAttemptOutcome',
  'Outcome of a call to the tax authority.',
  OUTCOME_MEANING,
);

const AuthorityAttemptType = builder.objectRef<AuthorityAttempt>('AuthorityAttempt').implement({
  description: 'A call to the tax authority about an invoice.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Start of the call.' }),
    purpose: t.expose('purpose', { type: AttemptPurposeType, description: 'Purpose of the call.' }),
    outcome: t.expose('outcome', { type: AttemptOutcomeType, description: 'Outcome of the call.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'The authority’s message, or how the call failed; null if there is nothing to add to the outcome.',
    }),
    milliseconds: t.exposeInt('milliseconds', { description: 'Duration of the call.' }),
    requestId: t.exposeString('requestId', {
      nullable: true,
      description: 'The id that the request carried; null if none was sent.',
    }),
  }),
});

addDocumentFields((t) => ({
  authorityAttempts: t.field({
    type: [AuthorityAttemptType],
    description: `The calls to the tax authority, oldest first: the first ${FIRST_ATTEMPTS} and the last ${LAST_ATTEMPTS}. Empty without a secret key.`,
    resolve: ({ authorityAttempts }, _args, { principal }) => (isMember(principal) ? [...authorityAttempts] : []),
  }),
}));
