import type { Condition, Subject } from '../../domain/conditions/condition.ts';
import {
  CONDITIONS,
  type ConditionCode,
  MOST_COUNTED,
  MOST_SUBJECTS,
  type Severity,
} from '../../domain/conditions/condition-table.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import './scalars.ts';
import { DocumentLanguageType } from './seller-profile.ts';

const ofTenants = Object.entries(CONDITIONS).filter(([, { of }]) => (of as readonly string[]).includes('tenant'));

const ConditionCodeType = enumOf(
  'ConditionCode',
  'What is wrong.',
  Object.fromEntries(ofTenants.map(([code, { says }]) => [code, `${says.en}.`])) as Record<ConditionCode, string>,
);

const SeverityType = enumOf('ConditionSeverity', 'How much it matters.', {
  error: 'Something does not happen until somebody acts.',
  warning: 'That may be so soon.',
  notice: 'Worth a look.',
} satisfies Record<Severity, string>);

const SubjectType = builder.objectRef<Subject>('ConditionSubject').implement({
  description: 'An object that a condition is about.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Its id; of a certificate `platform`, or the id of the tenant.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its number, host or name; null if it has none.' }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null if it is not known.' }),
  }),
});

const language = {
  type: DocumentLanguageType,
  required: true,
  defaultValue: 'en',
  description: 'Default: English.',
} as const;

const ConditionType = builder.objectRef<Condition>('Condition').implement({
  description: 'Something that is wrong now, in the environment of the credential.',
  fields: (t) => ({
    code: t.expose('code', { type: ConditionCodeType, description: 'Stable, for programs. More may be added.' }),
    severity: t.field({
      type: SeverityType,
      description: 'How much it matters.',
      resolve: ({ code }) => CONDITIONS[code].severity,
    }),
    says: t.string({
      description: 'What is wrong, in words.',
      args: { language: t.arg(language) },
      resolve: ({ code }, args) => CONDITIONS[code].says[args.language],
    }),
    advice: t.string({
      description: 'What to do.',
      args: { language: t.arg(language) },
      resolve: ({ code }, args) => CONDITIONS[code].advice[args.language],
    }),
    count: t.exposeInt('count', { description: `Number of objects, up to ${MOST_COUNTED}; 1 if it is about none.` }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more than `count`.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the first of them; null if it is not known.',
    }),
    subjects: t.field({
      type: [SubjectType],
      description: `The first ${MOST_SUBJECTS} objects.`,
      resolve: ({ subjects }) => [...subjects],
    }),
  }),
});

builder.queryField('conditions', (t) =>
  t.field({
    type: [ConditionType],
    authScopes: accessOf('conditions'),
    description:
      'What is wrong now in this environment; empty if nothing is. Calls that fail are shown to those who may read their log.',
    resolve: (_root, _args, { principal, useCases }) => useCases.conditions(principal),
  }),
);
