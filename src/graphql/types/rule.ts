import { rulesConcerning } from '../../domain/invoice/legal-warnings.ts';
import type { Rule, Texts } from '../../domain/morocco/rule.ts';
import { type AppliedRule, explained } from '../../domain/morocco/rules.ts';
import { isMember } from '../../domain/principal.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { addDocumentFields } from './fiscal-documents.ts';
import { DocumentLanguageType } from './seller-profile.ts';

const RuleStatusType = enumOf('RuleStatus', 'How far a rule has come.', {
  in_force: 'It is law, from `validFrom` on.',
  announced: 'No text has put it into force. It applies to no invoice yet.',
} satisfies Record<Rule['status'], string>);

const RuleLevelType = enumOf('RuleLevel', 'What the service makes of a rule.', {
  warning: 'An invoice that breaks it has a warning, unless `doubt` says why not.',
  information: 'Nothing that an invoice states breaks it.',
} satisfies Record<Rule['level'], string>);

export const RuleType = builder.objectRef<Rule>('Rule').implement({
  description:
    'A rule of Moroccan law that invoices meet, in a period with the same figures. It was read in press and secondary sources. It refuses no invoice and changes no amount.',
  fields: (t) => {
    const inLanguage = (description: string, textsOf: (rule: Rule) => Texts | null) =>
      t.string({
        nullable: true,
        description,
        args: {
          language: t.arg({
            type: DocumentLanguageType,
            required: true,
            defaultValue: 'en',
            description: 'Default: English.',
          }),
        },
        resolve: (rule, { language }) => textsOf(rule)?.[language] ?? null,
      });
    return {
      code: t.exposeString('code', { description: 'Stable, for programs; that of its warnings. More may be added.' }),
      status: t.expose('status', { type: RuleStatusType, description: 'Whether it is law or announced.' }),
      level: t.expose('level', { type: RuleLevelType, description: 'Whether it warns.' }),
      says: inLanguage('What it says.', ({ says }) => says),
      doubt: inLanguage(
        'On what the sources contradict each other. Such a rule is off: it warns of nothing. Null if it is on.',
        ({ doubt }) => doubt,
      ),
      article: t.exposeString('article', {
        nullable: true,
        description: 'The law and its article; null if the sources name none.',
      }),
      source: t.exposeString('source', { description: 'Where it was read.' }),
      readOn: t.exposeString('readOn', { description: 'When it was read: `YYYY-MM-DD`, or `YYYY-MM`.' }),
      validFrom: t.exposeString('validFrom', {
        nullable: true,
        description: 'The first day of the period, `YYYY-MM-DD`; null if the sources state none.',
      }),
      validUntil: t.exposeString('validUntil', {
        nullable: true,
        description: 'The last day of the period, `YYYY-MM-DD`; null if it has no end.',
      }),
    };
  },
});

const DocumentRuleType = builder.objectRef<AppliedRule>('DocumentRule').implement({
  description: 'A rule that concerns an invoice or a credit note.',
  fields: (t) => ({
    rule: t.expose('rule', { type: RuleType, description: 'The rule, in the period of the document.' }),
    path: t.exposeString('path', { description: 'Dotted path of the field: `terms.dueDate`.' }),
    message: t.string({
      description:
        'What the rule means for this document, such as what is left to pay if VAT is withheld, and how sure it is.',
      resolve: (applied) => explained(applied),
    }),
  }),
});

addDocumentFields((t) => ({
  rules: t.field({
    type: [DocumentRuleType],
    description:
      'The rules of law that concern the document on its date: broken ones, which are warnings, information, and those that are off. Empty without a secret key.',
    resolve: (document, _args, { principal }) => (isMember(principal) ? rulesConcerning(document) : []),
  }),
}));

builder.queryField('rules', (t) =>
  t.field({
    type: [RuleType],
    authScopes: accessOf('rules'),
    description: 'The rules of law that apply to invoices on a day, come into force later, or are announced.',
    args: { date: t.arg.string({ description: 'The day in Morocco, `YYYY-MM-DD`. Default: today.' }) },
    resolve: (_root, { date }, { principal, useCases }) => [...useCases.rules(principal, date ?? null)],
  }),
);
