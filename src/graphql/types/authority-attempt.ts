import type { AttemptOutcome, AttemptPurpose, AuthorityAttempt } from '../../domain/invoice/authority-attempt.ts';
import { MOST_ATTEMPTS } from '../../domain/invoice/authority-attempts.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { InvoiceType } from './invoice.ts';

const PURPOSE_MEANING: Readonly<Record<AttemptPurpose, string>> = {
  submit: 'To submit the signed invoice.',
  look_up: 'To ask whether it is held and what was decided.',
};

const AttemptPurposeType = enumOf('AuthorityAttemptPurpose', 'What the tax authority was called for.', PURPOSE_MEANING);

const OUTCOME_MEANING: Readonly<Record<AttemptOutcome, string>> = {
  received: 'It holds the invoice and has not decided.',
  accepted: 'It has accepted the invoice.',
  rejected: 'It has rejected the invoice; `message` says why.',
  not_received: 'It does not hold the invoice.',
  unknown: 'No answer that could be used: it is asked before anything is sent again.',
};

const AttemptOutcomeType = enumOf(
  'AuthorityAttemptOutcome',
  'What came of a call to the tax authority.',
  OUTCOME_MEANING,
);

const AuthorityAttemptType = builder.objectRef<AuthorityAttempt>('AuthorityAttempt').implement({
  description: 'A call to the tax authority about an invoice.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was begun.' }),
    purpose: t.expose('purpose', { type: AttemptPurposeType, description: 'What for.' }),
    outcome: t.expose('outcome', { type: AttemptOutcomeType, description: 'What came of it.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'The authority’s words, or what became of the call; null where the outcome says it all.',
    }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  authorityAttempts: t.field({
    type: [AuthorityAttemptType],
    extensions: { most: MOST_ATTEMPTS },
    description:
      'The calls to the tax authority, oldest first: the first 10 and the last 40. For a secret key, otherwise empty.',
    resolve: ({ authorityAttempts }, _args, { principal }) =>
      principal.kind === 'secret' ? [...authorityAttempts] : [],
  }),
}));
