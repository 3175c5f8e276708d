import { CONDITIONS } from '../../domain/conditions/condition-table.ts';
import { ConditionList, type ShownCondition } from '../interface/condition-list.tsx';
import { useLanguage } from '../interface/language.tsx';
import { useWorkspace } from '../workspace/workspace-context.ts';

/** Says what is wrong now in a workspace, with links to its pages. */
export function Conditions({ conditions }: { readonly conditions: readonly ShownCondition[] }) {
  const { texts } = useLanguage();
  const { address } = useWorkspace();
  const { attention, nothing } = texts.home;
  return (
    <ConditionList
      title={attention}
      nothing={nothing}
      conditions={conditions}
      addressOf={(code, subject) => {
        const { page } = CONDITIONS[code];
        if (page === null) return null;
        if (subject && code.startsWith('invoices_')) return `${address}/invoices/${subject.id}`;
        if (subject && page === 'drafts') return `${address}/drafts/${subject.id}`;
        return `${address}/${page}`;
      }}
    />
  );
}
